import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import type { UnresolvedReason } from './event/usage-cost.rules.js';
import { parseEventFields } from './event/usage-line.rules.js';
import type { UsageAdmission } from './usage-event.js';

const LOG_EVERY_MS = 1_000;

/** Logs failures of usage recording. */
@Injectable()
export class UsageIncidents {
  private writeFailureLoggedAtMs = Number.NEGATIVE_INFINITY;
  private refusalFailureLoggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly journal: UsageJournal,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** The cost of a served request is unknown or incomplete. */
  unresolved(admission: UsageAdmission, contentType: string | null, reason: UnresolvedReason): void {
    const { eventId, appId, userId, providerType, providerSlug, model, route } = admission;
    const names = { eventId, appId, userId, provider: providerType, providerSlug, model, route };
    this.log.event('usage_unresolved_cost', { ...names, contentType, reason });
  }

  /** A request was open when its process died. */
  interrupted(event: string): void {
    const reason: UnresolvedReason = 'gateway_interrupted';
    this.log.event('usage_unresolved_cost', { ...parseEventFields(event), contentType: null, reason });
  }

  /** Postgres rejects the data of this event: the journal keeps it for the operator. */
  rejected(event: string, error: unknown): void {
    this.journal.setAside(event);
    this.log.event('usage_event_rejected', { eventId: parseEventFields(event).eventId, error: String(error) });
  }

  /** Events cannot be written at the moment and stay pending. At most one line a second. */
  writeFailed(error: unknown): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.writeFailureLoggedAtMs < LOG_EVERY_MS) return;
    this.writeFailureLoggedAtMs = nowMs;
    this.log.event('usage_events_write_failed', { pending: this.journal.pending, error: String(error) });
  }

  /**
   * Refusal counts cannot be written at the moment and stay pending. At most one line a second.
   *
   * @param pending rows that are not stored.
   */
  refusalsWriteFailed(pending: number, error: unknown): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.refusalFailureLoggedAtMs < LOG_EVERY_MS) return;
    this.refusalFailureLoggedAtMs = nowMs;
    this.log.event('usage_refusals_write_failed', { pending, error: String(error) });
  }

  /** Recording itself threw: a bug in this code. */
  unexpected(error: unknown): void {
    this.log.event('unhandled_error', {
      error: String(error),
      stack: error instanceof Error ? error.stack : undefined,
    });
  }
}
