import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { inMonth, startOfDay } from '../platform/database/utc-sql.js';
import { readBounded } from '../usage/recording/usage-sums.repository.js';
import { EventCostsRepository } from './event-costs.repository.js';
import type { PricedEventRow, RepricePlan } from './reprice.rules.js';

/** Events to reprice. */
export interface EventSelection {
  readonly organizationId: string;
  readonly appId: string;
  /** A provider type. */
  readonly provider: string;
  readonly model: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  /** Earlier events are excluded; UTC, `YYYY-MM-DD`. */
  readonly firstDay: string;
  /** Maximum events to read, 1 or more. */
  readonly limit: number;
}

/**
 * Excludes refusals, which reached no provider, costs that the provider reported, and settled events: these are final.
 */
const SELECT_EVENTS = `
  SELECT event.id, event.provider_id, (extract(epoch FROM event.created_at) * 1000)::bigint AS created_at_ms,
    event.input_tokens, event.cached_input_tokens, event.cache_write_tokens,
    event.output_tokens, event.audio_input_tokens, event.audio_output_tokens, event.audio_milliseconds, event.usage_parts,
    event.cost_nano_usd, event.charged_nano_usd, event.cost_source
  FROM usage_events event
  WHERE event.organization_id = $1 AND event.app_id = $2 AND event.provider_type = $3 AND event.model = $4
    AND ${inMonth(5)} AND event.created_at >= ${startOfDay(6)}
    AND event.cost_source IS DISTINCT FROM 'reported' AND event.settled_at IS NULL
    AND NOT starts_with(event.status, 'blocked_')`;

/** Unordered, so the limit ends the scan early. */
const LIST_EVENTS = `${SELECT_EVENTS} LIMIT $7`;

const LOCK_EVENTS = `${SELECT_EVENTS} ORDER BY event.id LIMIT $7 FOR UPDATE`;

/** Reads events to reprice and rewrites their costs. */
@Injectable()
export class UsageRepriceRepository {
  constructor(
    private readonly dataSource: BackgroundDataSource,
    private readonly costs: EventCostsRepository,
  ) {}

  /** Unordered; at most `limit` of the selection. */
  list(selection: EventSelection): Promise<PricedEventRow[]> {
    return readBounded(this.dataSource, LIST_EVENTS, selectionParameters(selection));
  }

  /**
   * Writes the planned changes of the selected events atomically; the events are locked from the moment they are read.
   * When the plan throws, nothing is written. The plan runs once before any lock, so that a rejected plan blocks no
   * other transaction.
   *
   * @param onChange writes further rows in the same transaction; not called without changes.
   */
  rewrite(
    selection: EventSelection,
    plan: (events: PricedEventRow[]) => RepricePlan,
    onChange: (tx: EntityManager, planned: RepricePlan) => Promise<void>,
  ): Promise<RepricePlan> {
    const planIn = async (tx: EntityManager) => {
      plan(await tx.query<PricedEventRow[]>(LIST_EVENTS, selectionParameters(selection)));
      return plan(await tx.query<PricedEventRow[]>(LOCK_EVENTS, selectionParameters(selection)));
    };
    return this.costs.rewrite(selection, planIn, onChange);
  }
}

function selectionParameters(selection: EventSelection): unknown[] {
  const { organizationId, appId, provider, model, month, firstDay, limit } = selection;
  return [organizationId, appId, provider, model, month, firstDay, limit];
}
