import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { inMonth, isoTime, startOfDay } from '../platform/database/utc-sql.js';
import { ESTIMATE_OF_EVENT } from '../usage/recording/usage-columns.js';
import { readBounded } from '../usage/recording/usage-sums.repository.js';
import { EventCostsRepository } from './event-costs.repository.js';
import type { EstimatedEventRow, SettleFilter, SettlePlan } from './settle-estimates.rules.js';

/** Events to settle. */
export interface EstimateSelection {
  readonly organizationId: string;
  readonly appId: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  /** Earlier events are excluded; UTC, `YYYY-MM-DD`. */
  readonly firstDay: string;
  readonly filter: SettleFilter;
  /** Maximum events to read, 1 or more. */
  readonly limit: number;
}

/** Unsettled events with an estimate, oldest first. */
const SELECT_EVENTS = `
  SELECT event.id, event.provider_type, event.model, event.status, event.cost_nano_usd, event.charged_nano_usd,
    event.cost_source,
    ${isoTime('event.created_at')} AS created_at
  FROM usage_events event
  WHERE event.organization_id = $1 AND event.app_id = $2 AND ${inMonth(3)}
    AND event.created_at >= ${startOfDay(4)}
    AND ${ESTIMATE_OF_EVENT} > 0 AND event.settled_at IS NULL
    AND ($5::text IS NULL OR event.provider_type = $5) AND ($6::text IS NULL OR event.model = $6)
    AND ($7::text IS NULL OR event.status = $7) AND ($8::bigint[] IS NULL OR event.id = ANY ($8))
  ORDER BY event.id LIMIT $9`;

const LOCK_EVENTS = `${SELECT_EVENTS} FOR UPDATE`;

/** Reads events with estimates and rewrites their costs. */
@Injectable()
export class SettleEstimatesRepository {
  constructor(
    private readonly dataSource: BackgroundDataSource,
    private readonly costs: EventCostsRepository,
  ) {}

  list(selection: EstimateSelection): Promise<EstimatedEventRow[]> {
    return readBounded(this.dataSource, SELECT_EVENTS, parametersOf(selection));
  }

  /**
   * Settles the selected events atomically; they are locked from the moment they are read.
   *
   * @param onChange writes further rows in the same transaction; not called without changes.
   */
  settle(
    selection: EstimateSelection,
    plan: (events: readonly EstimatedEventRow[]) => SettlePlan,
    onChange: (tx: EntityManager, planned: SettlePlan) => Promise<void>,
  ): Promise<SettlePlan> {
    const planIn = async (tx: EntityManager) =>
      plan(await tx.query<EstimatedEventRow[]>(LOCK_EVENTS, parametersOf(selection)));
    return this.costs.rewrite(selection, planIn, onChange);
  }
}

function parametersOf({ organizationId, appId, month, firstDay, filter, limit }: EstimateSelection): unknown[] {
  const { provider = null, model = null, status = null, eventIds = null } = filter;
  return [organizationId, appId, month, firstDay, provider, model, status, eventIds, limit];
}
