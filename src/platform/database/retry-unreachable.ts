import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { isConnectionTrouble } from './database-errors.js';

export interface RetryUnreachableOptions {
  readonly clock: Clock;
  /** Retry limit while Postgres is unreachable, in milliseconds; 0 = one attempt. */
  readonly waitMs: number;
  /** Called before each delay; `reason` is the code of the failure. */
  readonly onWait: (attempt: number, reason: string) => void;
}

/**
 * Runs an action that needs Postgres, and retries it with backoff while Postgres is unreachable or has closed the
 * connection.
 *
 * @param action must be idempotent: a failed attempt may have taken effect.
 * @throws the last error when the wait ends; at once for errors that a retry cannot fix.
 * Source: docs/reference/security.md#dependency-failures.
 */
export async function retryUnreachable<T>(
  action: () => Promise<T>,
  { clock, waitMs, onWait }: RetryUnreachableOptions,
): Promise<T> {
  const startedMs = clock.monotonicMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      const pauseMs = backoffMs(attempt);
      const waitedMs = clock.monotonicMs() - startedMs;
      if (!isConnectionTrouble(error) || waitedMs + pauseMs > waitMs) throw error;
      onWait(attempt, systemErrorCode(error) ?? 'no_answer');
      await sleep(pauseMs);
    }
  }
}

/** Minimum and maximum delay between two attempts, in milliseconds. */
export interface BackoffBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Reconnect delays for Postgres: 100 ms to 2 s.
 *
 * Source: docs/reference/security.md#dependency-failures.
 */
const RECONNECT_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 2_000 };

/**
 * The delay before the next attempt, in milliseconds: exponential within the bounds.
 *
 * @param failures consecutive failed attempts, 1 or more.
 */
export function backoffMs(failures: number, bounds: BackoffBounds = RECONNECT_BACKOFF): number {
  return Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
}
