import { Injectable } from '@nestjs/common';
import { Log } from '../common/log/log.js';
import { SharedClock } from '../platform/clock/shared-clock.js';
import { believedNow, retentionDays } from './retention.rules.js';
import { RetentionSessions } from './retention-session.repository.js';
import type { RetentionRun, RetentionStep } from './retention-step.js';
import { RetentionSteps } from './retention-steps.js';

/**
 * `failed`: a step at least did not get to its end, and has said so. `stopped`: it was asked to leave the rest for the
 * next time. `skipped`: another instance is at it.
 */
export type RetentionOutcome = 'done' | 'failed' | 'stopped' | 'skipped';

/**
 * Deletes and sums up what has been kept long enough. Every statement leaves the data whole: a run may be killed at any
 * of them, and the next one goes on from there. Running again changes nothing.
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
@Injectable()
export class Retention {
  constructor(
    private readonly sessions: RetentionSessions,
    private readonly steps: RetentionSteps,
    private readonly clock: SharedClock,
    private readonly log: Log,
  ) {}

  /**
   * Does all steps, each for itself: one that fails writes its line and stops no other. Never throws.
   *
   * @param signal asks to stop after the statement under way; what is left is done the next time.
   */
  async run(signal: AbortSignal): Promise<RetentionOutcome> {
    try {
      const outcome = await this.sessions.alone(({ connection, databaseNowMs }) => {
        const now = believedNow(this.clock.ownNowMs(), databaseNowMs);
        return this.runSteps({ connection, signal, now, days: retentionDays(now) });
      });
      if (outcome === undefined) this.log.event('retention_skipped', {});
      return outcome ?? 'skipped';
    } catch (error) {
      this.log.event('retention_failed', { error: messageOf(error) });
      return 'failed';
    }
  }

  private async runSteps(run: RetentionRun): Promise<RetentionOutcome> {
    let failures = 0;
    for (const step of this.steps.inOrder) if (!(await this.succeeds(step, run))) failures++;
    if (failures > 0) return 'failed';
    return run.signal.aborted ? 'stopped' : 'done';
  }

  private async succeeds(step: RetentionStep, run: RetentionRun): Promise<boolean> {
    try {
      this.log.event(step.done, await step.run(run));
      return true;
    } catch (error) {
      this.log.event(step.failed, { error: messageOf(error) });
      return false;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
