import { Injectable } from '@nestjs/common';
import { errorText } from '../common/errors/error-text.js';
import { Log } from '../common/log/log.js';
import { SharedClock } from '../platform/clock/shared-clock.js';
import * as expired from './expired-rows.js';
import { believedNow, retentionDays } from './retention.rules.js';
import { type EndedRun, RetentionSessions } from './retention-session.repository.js';
import type { RetentionRun, RetentionStep } from './retention-step.js';
import { SecretResealing } from './secret-resealing.service.js';
import { UsageRetention } from './usage-retention.service.js';

/**
 * All retention steps. Secrets and personal data precede long-running steps; users follow all rows that reference them.
 */
@Injectable()
export class RetentionSteps {
  readonly inOrder: readonly RetentionStep[];

  constructor(usage: UsageRetention, secrets: SecretResealing) {
    this.inOrder = [
      expired.PRUNE_AUTH_EVENTS,
      expired.PRUNE_CHALLENGES,
      expired.PRUNE_KEPT_OBJECTS,
      expired.PRUNE_DEVICE_KEYS,
      expired.PRUNE_RECEIPTS,
      expired.PRUNE_INVITATIONS,
      expired.PRUNE_AUDIT_EVENTS,
      expired.PRUNE_WEBHOOK_EVENTS,
      expired.PRUNE_SESSIONS,
      expired.PRUNE_CLI_OPERATIONS,
      expired.PRUNE_OAUTH,
      expired.PRUNE_MANAGEMENT_KEYS,
      ...usage.steps,
      expired.PRUNE_BUDGETS,
      expired.PRUNE_LIMIT_COUNTS,
      expired.PRUNE_USERS,
      ...secrets.steps,
    ];
  }
}

/**
 * `failed`: at least one step failed and has logged it. `stopped`: the signal left the rest for the next run.
 * `skipped`: another instance runs retention.
 */
export type RetentionOutcome = 'done' | 'failed' | 'stopped' | 'skipped';

/**
 * Deletes and folds rows past their retention. Every statement keeps the data consistent: a killed run continues with
 * the next one, and a repeated run changes nothing.
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
   * Runs all steps independently: a failing step writes its log line and the others continue. Never throws.
   *
   * @param signal stops after the current statement; the next run does the rest.
   */
  async run(signal: AbortSignal): Promise<RetentionOutcome> {
    try {
      const outcome = await this.sessions.alone(async ({ connection, databaseNowMs }) => {
        const now = believedNow(this.clock.ownNowMs(), databaseNowMs);
        const ended = await this.runSteps({ connection, signal, now, days: retentionDays(now) });
        await this.sessions.recordEnd(connection, { startedAtMs: databaseNowMs, outcome: ended });
        return ended;
      });
      if (outcome === undefined) this.log.event('retention_skipped', {});
      return outcome ?? 'skipped';
    } catch (error) {
      this.log.event('retention_failed', { error: errorText(error) });
      return 'failed';
    }
  }

  private async runSteps(run: RetentionRun): Promise<EndedRun['outcome']> {
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
      this.log.event(step.failed, { error: errorText(error) });
      return false;
    }
  }
}
