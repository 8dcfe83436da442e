import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../accounts/audit/audit-trail.js';
import type { AppRef } from '../app-directory/app.entity.js';
import { Budgets } from '../budgets/budgets.service.js';
import { Clock } from '../common/clock.js';
import { firstEventDay } from '../usage/recording/usage-range.rules.js';
import { type EstimateSelection, SettleEstimatesRepository } from './settle-estimates.repository.js';
import {
  type EstimatedEventRow,
  planSettlement,
  type SettledCost,
  type SettleFigures,
  type SettleFilter,
  type SettlePlan,
} from './settle-estimates.rules.js';

/** Maximum events per request; a further request settles the rest. */
const MAX_EVENTS = 10_000;

export interface SettleOrder {
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  /** True writes the new costs; false only computes them. */
  readonly apply: boolean;
  readonly cost: SettledCost;
  readonly filter: SettleFilter;
}

export interface SettledEstimates extends SettleFigures {
  readonly app_id: string;
  readonly month: string;
  readonly applied: boolean;
}

/** Replaces estimates by costs that an admin specifies and updates all sums accordingly. Source: ADR 0007. */
@Injectable()
export class SettleEstimates {
  constructor(
    private readonly events: SettleEstimatesRepository,
    private readonly budgets: Budgets,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Settles the oldest events, at most 10 000; the response reports whether more match. Events recorded meanwhile keep
   * their estimates. A concurrent order for the same events waits for the first one and finds none.
   */
  async run(
    admin: AdminPrincipal,
    app: AppRef,
    { month, apply, cost, filter }: SettleOrder,
  ): Promise<SettledEstimates> {
    const selection: EstimateSelection = {
      ...{ organizationId: app.organizationId, appId: app.id, month, filter },
      firstDay: firstEventDay(this.clock.utcDay()),
      limit: MAX_EVENTS + 1,
    };
    const plan = (events: readonly EstimatedEventRow[]) => planSettlement(events, cost, MAX_EVENTS, this.clock.nowMs());
    const record = (tx: EntityManager, done: SettlePlan) =>
      this.trail.record(tx, admin, entryOf(selection, cost, done));
    const planned = apply ? await this.events.settle(selection, plan, record) : plan(await this.events.list(selection));
    // Admission of the next call uses the new costs.
    if (apply && planned.changes.length > 0) await this.budgets.invalidateSpending(app.id);
    return { app_id: app.id, month, applied: apply, ...planned.figures };
  }
}

function entryOf({ appId, month, filter }: EstimateSelection, cost: SettledCost, { figures }: SettlePlan): AuditEntry {
  const { provider = null, model = null, status = null, eventIds } = filter;
  const details = {
    ...{ month, cost: typeof cost === 'string' ? cost : cost.usd, provider, model, status },
    named_events: eventIds?.length ?? null,
    events: figures.matched_events,
    delta_usd: figures.delta_usd,
  };
  return { action: 'usage.estimates_settled', targetType: 'app', targetId: appId, appId, details };
}
