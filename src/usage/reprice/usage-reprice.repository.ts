import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readBounded } from '../read-bounded.js';
import { DAY_DIMENSIONS, SUM_COLUMNS } from '../usage-sum-columns.js';
import type { EventCost, PricedEventRow, RepricePlan } from './reprice.rules.js';

/** Which events may be repriced. */
export interface EventSelection {
  readonly organizationId: string;
  readonly appId: string;
  /** A provider type. */
  readonly provider: string;
  readonly model: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  /** Earlier ones are left out; UTC, `YYYY-MM-DD`. */
  readonly firstDay: string;
  /** Most events to read, 1 or more. */
  readonly limit: number;
}

/** A UTC month `$n`, `YYYY-MM`, as a condition on `event`. */
const inMonth = (n: number) => `event.created_at >= to_date($${n}, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
    AND event.created_at < (to_date($${n}, 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC'`;

/** Refusals reached no provider, and a figure of the provider's own is final. */
const SELECT_EVENTS = `
  SELECT event.id, event.provider_id, event.input_tokens, event.cached_input_tokens, event.cache_write_tokens,
    event.output_tokens, event.audio_input_tokens, event.audio_output_tokens, event.audio_milliseconds,
    event.cost_nano_usd, event.charged_nano_usd, event.cost_source
  FROM usage_events event
  WHERE event.organization_id = $1 AND event.app_id = $2 AND event.provider_type = $3 AND event.model = $4
    AND ${inMonth(5)} AND event.created_at >= to_date($6, 'YYYY-MM-DD')::timestamp AT TIME ZONE 'UTC'
    AND event.cost_source IS DISTINCT FROM 'reported' AND NOT starts_with(event.status, 'blocked_')`;

/** Any of them: where there are far too many, that is known at once. */
const LIST_EVENTS = `${SELECT_EVENTS} LIMIT $7`;

const LOCK_EVENTS = `${SELECT_EVENTS} ORDER BY event.id LIMIT $7 FOR UPDATE`;

/** The changes `$1` beside the events of the month `$2` they are about, as those are stored. */
const CHANGED = `
  SELECT event.*, (event.created_at AT TIME ZONE 'UTC')::date AS day, change.cost AS new_cost,
    change.source AS new_source,
    coalesce(change.charged, change.cost) - coalesce(event.charged_nano_usd, event.cost_nano_usd) AS charge_delta
  FROM json_to_recordset($1::json) AS change(id bigint, cost bigint, charged bigint, source text)
  JOIN usage_events event ON event.id = change.id AND ${inMonth(2)}`;

const DAY_KEY = ['organization_id', 'app_id', 'day', ...DAY_DIMENSIONS].join(', ');

const NEW_VALUES: Readonly<Record<string, string>> = { cost_source: 'new_source', cost_nano_usd: 'new_cost' };

const newColumns = (names: readonly string[]) => names.map((name) => NEW_VALUES[name] ?? name).join(', ');

/** Takes what changes out of the sums it was in, and puts it into those it belongs to. */
const MOVE_DAYS = `
  WITH changed AS (${CHANGED}),
  moved AS (
    SELECT ${DAY_KEY}, ${SUM_COLUMNS.map((name) => `- ${name} AS ${name}`).join(', ')} FROM changed
    UNION ALL
    SELECT organization_id, app_id, day, ${newColumns(DAY_DIMENSIONS)}, ${newColumns(SUM_COLUMNS)} FROM changed)
  INSERT INTO usage_days AS known (${DAY_KEY}, ${SUM_COLUMNS.join(', ')})
  SELECT ${DAY_KEY}, ${SUM_COLUMNS.map((name) => `sum(${name})`).join(', ')} FROM moved GROUP BY ${DAY_KEY}
  HAVING sum(requests) <> 0 OR sum(cost_nano_usd) <> 0
  ORDER BY app_id COLLATE "C", day, ${DAY_DIMENSIONS.map((name) => `${name} COLLATE "C"`).join(', ')}
  ON CONFLICT (app_id, day, dimensions) DO UPDATE
    SET ${SUM_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

const BY_USER_DAY = `
  SELECT app_id, user_id, day, sum(new_cost - cost_nano_usd) AS delta FROM (${CHANGED}) changed
  WHERE user_id IS NOT NULL GROUP BY app_id, user_id, day HAVING sum(new_cost - cost_nano_usd) <> 0`;

const BY_USER_MONTH = `
  SELECT app_id, user_id, to_date($2, 'YYYY-MM') AS month, sum(delta) AS delta FROM (${BY_USER_DAY}) by_day
  GROUP BY app_id, user_id HAVING sum(delta) <> 0`;

const LOCK_USER_DAYS = `
  SELECT FROM usage_user_days used JOIN (${BY_USER_DAY}) moved USING (app_id, day, user_id)
  ORDER BY used.app_id COLLATE "C", used.day, used.user_id COLLATE "C" FOR UPDATE OF used`;

const MOVE_USER_DAYS = `
  UPDATE usage_user_days used SET cost_nano_usd = used.cost_nano_usd + moved.delta FROM (${BY_USER_DAY}) moved
  WHERE used.app_id = moved.app_id AND used.day = moved.day AND used.user_id = moved.user_id`;

const LOCK_USER_MONTHS = `
  SELECT FROM usage_user_months used JOIN (${BY_USER_MONTH}) moved USING (app_id, user_id, month)
  ORDER BY used.app_id COLLATE "C", used.user_id COLLATE "C", used.month FOR UPDATE OF used`;

const MOVE_USER_MONTHS = `
  UPDATE usage_user_months used SET cost_nano_usd = used.cost_nano_usd + moved.delta FROM (${BY_USER_MONTH}) moved
  WHERE used.app_id = moved.app_id AND used.user_id = moved.user_id AND used.month = moved.month`;

/** Of the application, which is the empty user, and of its users. */
const MOVE_BUDGETS = `
  INSERT INTO budget_months AS known (organization_id, app_id, user_id, month, spent_nano_usd)
  SELECT min(organization_id), app_id, scope.user_id, to_date($2, 'YYYY-MM'), sum(charge_delta)
  FROM (${CHANGED}) changed CROSS JOIN LATERAL (VALUES (''), (changed.user_id)) AS scope(user_id)
  WHERE scope.user_id IS NOT NULL
  GROUP BY app_id, scope.user_id HAVING sum(charge_delta) <> 0
  ORDER BY app_id COLLATE "C", scope.user_id COLLATE "C"
  ON CONFLICT (app_id, user_id, month) DO UPDATE SET spent_nano_usd = known.spent_nano_usd + excluded.spent_nano_usd`;

const UPDATE_EVENTS = `
  UPDATE usage_events event SET cost_nano_usd = change.cost, charged_nano_usd = change.charged,
    cost_source = change.source
  FROM json_to_recordset($1::json) AS change(id bigint, cost bigint, charged bigint, source text)
  WHERE event.id = change.id AND ${inMonth(2)}`;

/** In the order in which those who store events lock the sums, so that neither waits for the other in a circle. */
const MOVES = [
  MOVE_DAYS,
  LOCK_USER_DAYS,
  MOVE_USER_DAYS,
  LOCK_USER_MONTHS,
  MOVE_USER_MONTHS,
  MOVE_BUDGETS,
  UPDATE_EVENTS,
];

/** Sums that nothing is left in. */
const DELETE_EMPTY_DAYS = `
  DELETE FROM usage_days
  WHERE organization_id = $1 AND app_id = $2 AND provider_type = $3 AND model = $4 AND requests = 0
    AND day >= to_date($5, 'YYYY-MM') AND day < to_date($5, 'YYYY-MM') + interval '1 month'`;

/** Reads and rewrites the costs of events, and moves `usage_days`, the sums by user and what is spent with them. */
@Injectable()
export class UsageRepriceRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** In no order, at most as many as the selection says. */
  list(selection: EventSelection): Promise<PricedEventRow[]> {
    return readBounded(this.dataSource, LIST_EVENTS, selectionParameters(selection));
  }

  /**
   * Writes the changes that are planned for the selected events, all or none: nobody else changes those events from the
   * moment they are read. The plan may throw; nothing is written then. It is asked once before anything is locked, so
   * that what it refuses keeps nobody waiting.
   *
   * @param onChange what else is written with them; not asked when nothing changes.
   */
  rewrite(
    selection: EventSelection,
    plan: (events: PricedEventRow[]) => RepricePlan,
    onChange: (tx: EntityManager, planned: RepricePlan) => Promise<void>,
  ): Promise<RepricePlan> {
    return this.dataSource.transaction(async (tx) => {
      plan(await tx.query<PricedEventRow[]>(LIST_EVENTS, selectionParameters(selection)));
      const planned = plan(await tx.query<PricedEventRow[]>(LOCK_EVENTS, selectionParameters(selection)));
      if (planned.changes.length > 0) {
        await writeChanges(tx, selection, planned.changes);
        await onChange(tx, planned);
      }
      return planned;
    });
  }
}

async function writeChanges(
  tx: EntityManager,
  selection: EventSelection,
  changes: readonly EventCost[],
): Promise<void> {
  const json = JSON.stringify(
    changes.map(({ id, costNanoUsd, chargedNanoUsd, costSource }) => ({
      ...{ id, cost: costNanoUsd, charged: chargedNanoUsd, source: costSource },
    })),
  );
  for (const statement of MOVES) await tx.query(statement, [json, selection.month]);
  const { organizationId, appId, provider, model, month } = selection;
  await tx.query(DELETE_EMPTY_DAYS, [organizationId, appId, provider, model, month]);
}

function selectionParameters(selection: EventSelection): unknown[] {
  const { organizationId, appId, provider, model, month, firstDay, limit } = selection;
  return [organizationId, appId, provider, model, month, firstDay, limit];
}
