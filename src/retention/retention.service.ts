import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ChallengeRetention } from '../attestation/retention/challenge-retention.service.js';
import { AuthEventRetention } from '../auth-events/retention/auth-event-retention.service.js';
import { BudgetRetention } from '../budgets/retention/budget-retention.service.js';
import { Clock, type Instant } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { IdentityRetention } from '../identity/retention/identity-retention.service.js';
import { InvitationRetention } from '../organizations/retention/invitation-retention.service.js';
import { ReceiptRetention } from '../receipts/retention/receipt-retention.service.js';
import { UsageRetention } from '../usage/retention/usage-retention.service.js';
import { believedNow, type RetentionDays, retentionDays } from './retention.rules.js';
import { RetentionSessions } from './retention-session.repository.js';

/**
 * `failed`: a step at least did not get to its end, and has said so. `stopped`: it was asked to leave the rest for the
 * next time. `skipped`: another instance is at it.
 */
export type RetentionOutcome = 'done' | 'failed' | 'stopped' | 'skipped';

interface Run {
  readonly connection: EntityManager;
  readonly now: Instant;
  readonly days: RetentionDays;
  readonly signal: AbortSignal;
}

type FailureLine =
  | 'auth_events_prune_failed'
  | 'auth_challenges_prune_failed'
  | 'usage_compaction_failed'
  | 'usage_fold_failed'
  | 'budget_prune_failed'
  | 'creation_receipts_prune_failed'
  | 'invitations_prune_failed'
  | 'audit_events_prune_failed'
  | 'sessions_prune_failed';

/**
 * Deletes and sums up what has been kept long enough. Every statement leaves the data whole: a run may be killed at any
 * of them, and the next one goes on from there. Running again changes nothing (threats 9.5).
 *
 * Source: specification "Retention"; contract-admin 11.
 */
@Injectable()
export class Retention {
  constructor(
    private readonly sessions: RetentionSessions,
    private readonly authEvents: AuthEventRetention,
    private readonly challenges: ChallengeRetention,
    private readonly usage: UsageRetention,
    private readonly budgets: BudgetRetention,
    private readonly receipts: ReceiptRetention,
    private readonly invitations: InvitationRetention,
    private readonly identity: IdentityRetention,
    private readonly clock: Clock,
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
        const now = believedNow(this.clock.nowMs(), databaseNowMs);
        return this.runSteps({ connection, signal, now, days: retentionDays(now) });
      });
      if (outcome === undefined) this.log.event('retention_skipped', {});
      return outcome ?? 'skipped';
    } catch (error) {
      this.log.event('retention_failed', { error: messageOf(error) });
      return 'failed';
    }
  }

  private async runSteps({ connection, now, days, signal }: Run): Promise<RetentionOutcome> {
    const steps = [
      await this.attempt('auth_events_prune_failed', async () => {
        const events = await this.authEvents.prune(connection, days.events, signal);
        this.log.event('auth_events_pruned', { events });
      }),
      await this.attempt('auth_challenges_prune_failed', async () => {
        const challenges = await this.challenges.prune(connection, signal);
        this.log.event('auth_challenges_pruned', { challenges });
      }),
      await this.attempt('usage_compaction_failed', async () => {
        this.log.event('usage_events_compacted', await this.usage.compact(connection, days.events, signal));
      }),
      await this.attempt('usage_fold_failed', async () => {
        this.log.event('usage_rollup_folded', { days: await this.usage.fold(connection, days.dayTotals, signal) });
      }),
      await this.attempt('budget_prune_failed', async () => {
        const months = await this.budgets.prune(connection, days.dayTotals, signal);
        this.log.event('budget_months_pruned', { months });
      }),
      await this.attempt('creation_receipts_prune_failed', async () => {
        this.log.event('creation_receipts_pruned', await this.receipts.prune(connection, now, signal));
      }),
      await this.attempt('invitations_prune_failed', async () => {
        const invitations = await this.invitations.prune(connection, days.events, signal);
        this.log.event('invitations_pruned', { invitations });
      }),
      await this.attempt('audit_events_prune_failed', async () => {
        const events = await this.identity.pruneAuditEvents(connection, days.events, signal);
        this.log.event('audit_events_pruned', { events });
      }),
      await this.attempt('sessions_prune_failed', async () => {
        this.log.event('sessions_pruned', { sessions: await this.identity.pruneSessions(connection, now, signal) });
      }),
    ];
    if (!steps.every(Boolean)) return 'failed';
    return signal.aborted ? 'stopped' : 'done';
  }

  private async attempt(failure: FailureLine, step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      this.log.event(failure, { error: messageOf(error) });
      return false;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}
