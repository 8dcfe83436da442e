import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { errorCode } from '../../common/errors/error-code.js';
import { backoffMs } from './backoff.rules.js';
import { isConnectionTrouble } from './violates.js';

export interface WhenReachableOptions {
  readonly clock: Clock;
  /** How long to keep trying while Postgres cannot be reached, in milliseconds; 0 = one attempt. */
  readonly waitMs: number;
  /** Told before each pause; `reason` is the code of the failure. */
  readonly onWait: (attempt: number, reason: string) => void;
}

/**
 * Does something that needs Postgres, and does it again, after growing pauses, while Postgres cannot be reached or has
 * ended the connection.
 *
 * @param action must bear being done twice: what it asked for may have happened.
 * @throws what it said last, when the wait is over; at once for anything that waiting cannot mend.
 * Source: docs/reference/security.md#dependency-failures.
 */
export async function whenReachable<T>(
  action: () => Promise<T>,
  { clock, waitMs, onWait }: WhenReachableOptions,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const pauseMs = backoffMs(attempt);
      const waitedMs = clock.monotonicMs() - startedMs;
      if (!isConnectionTrouble(error) || waitedMs + pauseMs > waitMs) throw error;
      onWait(attempt, errorCode(error) ?? 'no_answer');
      await sleep(pauseMs);
    }
  }
}
