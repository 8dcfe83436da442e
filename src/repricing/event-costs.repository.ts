import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  BUDGET_KEY,
  budgetOrder,
  moneyOfNamed,
  namedBudgets,
  periodsOf,
  STORED_WINDOWS,
} from '../budgets/budget-columns.js';
import { BUDGET_EVENT_PARTS } from '../budgets/budget-events.js';
import { systemErrorCode } from '../common/errors/system-error-code.js';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { inMonth } from '../platform/database/utc-sql.js';
import { DAY_DIMENSIONS, ESTIMATE_OF_EVENT, SUM_COLUMNS } from '../usage/recording/usage-columns.js';
import type { CostSource } from '../usage/recording/usage-event.js';

/** New cost of a stored event. */
export interface EventCost {
  readonly id: string;
  /** Whole nano-dollars. */
  readonly costNanoUsd: number;
  /** Budget charge in whole nano-dollars; null: equal to the cost. */
  readonly chargedNanoUsd: number | null;
  readonly costSource: CostSource | null;
  /** When an admin settled its estimate, milliseconds since the Unix epoch; absent otherwise. */
  readonly settledAtMs?: number;
}

/** Scope of one rewrite. */
export interface EventScope {
  readonly appId: string;
  /** UTC month of all its events, `YYYY-MM`. */
  readonly month: string;
}

/** Maximum attempts of a rewrite that is a deadlock victim. */
const ATTEMPTS = 5;
const DEADLOCK = '40P01';

/** The changes `$1`, joined with the stored events of the month `$2`. */
const CHANGED = `
  SELECT event.*, (event.created_at AT TIME ZONE 'UTC')::date AS day, change.cost AS new_cost,
    change.source AS new_source, ${ESTIMATE_OF_EVENT} AS estimated_nano_usd,
    coalesce(change.charged, change.cost) - change.cost AS new_estimate
  FROM json_to_recordset($1::json) AS change(id bigint, cost bigint, charged bigint, source text)
  JOIN usage_events event ON event.id = change.id AND ${inMonth(2)}`;

const DAY_KEY = ['organization_id', 'app_id', 'day', ...DAY_DIMENSIONS].join(', ');

const NEW_VALUES: Readonly<Record<string, string>> = {
  cost_source: 'new_source',
  cost_nano_usd: 'new_cost',
  estimated_nano_usd: 'new_estimate',
};

/** Differences of an event's measures and of its charge. */
const COST_DELTA = 'sum(new_cost - cost_nano_usd)';
const ESTIMATE_DELTA = 'sum(new_estimate - estimated_nano_usd)';
const CHARGE_DELTA = 'sum(new_cost + new_estimate - coalesce(charged_nano_usd, cost_nano_usd))';

const newColumns = (names: readonly string[]) => names.map((name) => NEW_VALUES[name] ?? name).join(', ');

/** Subtracts the changed events from their old `usage_days` rows and adds them to their new ones. */
const MOVE_DAYS = `
  WITH changed AS (${CHANGED}),
  moved AS (
    SELECT ${DAY_KEY}, ${SUM_COLUMNS.map((name) => `- ${name} AS ${name}`).join(', ')} FROM changed
    UNION ALL
    SELECT organization_id, app_id, day, ${newColumns(DAY_DIMENSIONS)}, ${newColumns(SUM_COLUMNS)} FROM changed)
  INSERT INTO usage_days AS known (${DAY_KEY}, ${SUM_COLUMNS.join(', ')})
  SELECT ${DAY_KEY}, ${SUM_COLUMNS.map((name) => `sum(${name})`).join(', ')} FROM moved GROUP BY ${DAY_KEY}
  HAVING sum(requests) <> 0 OR sum(cost_nano_usd) <> 0 OR sum(estimated_nano_usd) <> 0
  ORDER BY app_id COLLATE "C", day, ${DAY_DIMENSIONS.map((name) => `${name} COLLATE "C"`).join(', ')}
  ON CONFLICT (app_id, day, dimensions) DO UPDATE
    SET ${SUM_COLUMNS.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

const BY_USER_DAY = `
  SELECT app_id, user_id, day, ${COST_DELTA} AS cost_delta, ${ESTIMATE_DELTA} AS estimate_delta FROM (${CHANGED}) changed
  WHERE user_id IS NOT NULL GROUP BY app_id, user_id, day HAVING ${COST_DELTA} <> 0 OR ${ESTIMATE_DELTA} <> 0`;

const BY_USER_MONTH = `
  SELECT app_id, user_id, to_date($2, 'YYYY-MM') AS month, sum(cost_delta) AS cost_delta,
    sum(estimate_delta) AS estimate_delta
  FROM (${BY_USER_DAY}) by_day GROUP BY app_id, user_id HAVING sum(cost_delta) <> 0 OR sum(estimate_delta) <> 0`;

const MOVED = `cost_nano_usd = used.cost_nano_usd + moved.cost_delta,
  estimated_nano_usd = used.estimated_nano_usd + moved.estimate_delta`;

const LOCK_USER_DAYS = `
  SELECT FROM usage_user_days used JOIN (${BY_USER_DAY}) moved USING (app_id, day, user_id)
  ORDER BY used.app_id COLLATE "C", used.day, used.user_id COLLATE "C" FOR UPDATE OF used`;

const MOVE_USER_DAYS = `
  UPDATE usage_user_days used SET ${MOVED} FROM (${BY_USER_DAY}) moved
  WHERE used.app_id = moved.app_id AND used.day = moved.day AND used.user_id = moved.user_id`;

const LOCK_USER_MONTHS = `
  SELECT FROM usage_user_months used JOIN (${BY_USER_MONTH}) moved USING (app_id, user_id, month)
  ORDER BY used.app_id COLLATE "C", used.user_id COLLATE "C", used.month FOR UPDATE OF used`;

const MOVE_USER_MONTHS = `
  UPDATE usage_user_months used SET ${MOVED} FROM (${BY_USER_MONTH}) moved
  WHERE used.app_id = moved.app_id AND used.user_id = moved.user_id AND used.month = moved.month`;

const budgetDeltas = (scope: keyof typeof STORED_WINDOWS, subject: string) => `
    SELECT app_id, '${scope}' AS scope, ${subject} AS subject, period.window_name, period.period_start,
      min(organization_id) AS organization_id, ${CHARGE_DELTA} AS charge, ${ESTIMATE_DELTA} AS estimate
    FROM (${CHANGED}) changed CROSS JOIN LATERAL ${periodsOf(STORED_WINDOWS[scope], 'changed.day')}
    WHERE ${subject} IS NOT NULL GROUP BY 1, 2, 3, 4, 5
    HAVING ${CHARGE_DELTA} <> 0 OR ${ESTIMATE_DELTA} <> 0`;

const BUDGET = [...BUDGET_KEY, 'organization_id'].join(', ');

/** Budgets that the events name: new prices change their money alone. */
const NAMED_DELTAS = `
    SELECT app_id, named.scope, named.subject, named.window_name, named.period_start, min(organization_id),
      ${moneyOfNamed(CHARGE_DELTA)}, ${moneyOfNamed(ESTIMATE_DELTA)}
    FROM (${CHANGED}) changed CROSS JOIN LATERAL ${namedBudgets('changed.limits')}
    GROUP BY 1, 2, 3, 4, 5 HAVING ${moneyOfNamed(CHARGE_DELTA)} <> 0 OR ${moneyOfNamed(ESTIMATE_DELTA)} <> 0`;

/** Budgets of the application and of its users, in every period, and those that the events name. */
const MOVE_BUDGETS = `
  WITH spent AS (${budgetDeltas('app', "''")} UNION ALL ${budgetDeltas('user', 'changed.user_id')}
    UNION ALL ${NAMED_DELTAS}),
  budgets AS (
    INSERT INTO budget_periods AS known (${BUDGET}, spent_nano_usd, estimated_nano_usd)
    SELECT ${BUDGET}, charge, estimate FROM spent ORDER BY ${budgetOrder()}
    ON CONFLICT (${BUDGET_KEY.join(', ')}) DO UPDATE SET spent_nano_usd = known.spent_nano_usd + excluded.spent_nano_usd,
      estimated_nano_usd = known.estimated_nano_usd + excluded.estimated_nano_usd
    RETURNING ${BUDGET}, spent_nano_usd AS spent, estimated_nano_usd AS estimated),
  ${BUDGET_EVENT_PARTS}
  SELECT`;

const UPDATE_EVENTS = `
  UPDATE usage_events event SET cost_nano_usd = change.cost, charged_nano_usd = change.charged,
    cost_source = change.source,
    settled_at = coalesce(timestamptz 'epoch' + change.settled_ms * interval '1 millisecond', event.settled_at)
  FROM json_to_recordset($1::json) AS change(id bigint, cost bigint, charged bigint, source text, settled_ms bigint)
  WHERE event.id = change.id AND ${inMonth(2)}`;

/** In the lock order of the event writers, which prevents deadlocks on the sums. */
const MOVES = [
  MOVE_DAYS,
  LOCK_USER_DAYS,
  MOVE_USER_DAYS,
  LOCK_USER_MONTHS,
  MOVE_USER_MONTHS,
  MOVE_BUDGETS,
  UPDATE_EVENTS,
];

/** Deletes rows of `usage_days` without requests. */
const DELETE_EMPTY_DAYS = `
  DELETE FROM usage_days WHERE app_id = $1 AND requests = 0
    AND day >= to_date($2, 'YYYY-MM') AND day < to_date($2, 'YYYY-MM') + interval '1 month'`;

/** Rewrites costs of stored events and updates all sums and budgets accordingly. */
@Injectable()
export class EventCostsRepository {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /**
   * Writes the planned changes in one transaction, which is retried on a deadlock.
   *
   * @param plan locks the events to change; when it throws, nothing is written.
   * @param onChange writes further rows in the same transaction; not called without changes.
   */
  async rewrite<Plan extends { readonly changes: readonly EventCost[] }>(
    scope: EventScope,
    plan: (tx: EntityManager) => Promise<Plan>,
    onChange: (tx: EntityManager, planned: Plan) => Promise<void>,
  ): Promise<Plan> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.dataSource.transaction(async (tx) => {
          const planned = await plan(tx);
          if (planned.changes.length > 0) {
            await this.write(tx, scope, planned.changes);
            await onChange(tx, planned);
          }
          return planned;
        });
      } catch (error) {
        if (attempt === ATTEMPTS || systemErrorCode(error) !== DEADLOCK) throw error;
      }
    }
  }

  private async write(tx: EntityManager, { appId, month }: EventScope, changes: readonly EventCost[]): Promise<void> {
    const json = JSON.stringify(
      changes.map(({ id, costNanoUsd, chargedNanoUsd, costSource, settledAtMs = null }) => ({
        ...{ id, cost: costNanoUsd, charged: chargedNanoUsd, source: costSource, settled_ms: settledAtMs },
      })),
    );
    for (const statement of MOVES) await tx.query(statement, [json, month]);
    await tx.query(DELETE_EMPTY_DAYS, [appId, month]);
  }
}
