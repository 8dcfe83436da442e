import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { readBounded } from '../usage/recording/usage-sums.repository.js';
import {
  type AttentionKind,
  type AttentionTimes,
  type AttentionWindow,
  BUDGET_PERCENT,
  FAILED_IN_A_ROW,
  MAX_OF_KIND,
} from './attention.rules.js';

/** What needs attention, as stored; sums are texts. */
export interface AttentionRow {
  /** Of the application, provider or key. */
  readonly id: string;
  readonly name: string;
  /** Null: it belongs to the account. */
  readonly appId: string | null;
  readonly appName: string | null;
  readonly count: string;
  /** Whole nano-dollars; null for items without an amount. */
  readonly nanoUsd: string | null;
  readonly budgetNanoUsd: string | null;
  /** Of the budget; absent where it is not about one. */
  readonly window?: AttentionWindow;
  readonly since: Instant | null;
}

const NO_MONEY = 'NULL::numeric AS "nanoUsd", NULL::numeric AS "budgetNanoUsd"';
const OF_NO_APP = 'NULL AS "appId", NULL AS "appName"';
const OF_APP = 'app.id AS "appId", app.name AS "appName"';
const BY_COUNT = `ORDER BY count DESC, id LIMIT ${MAX_OF_KIND}`;

/** Errors beyond this number are not examined. */
const MOST_ERRORS = 100;

/**
 * Active providers that are failing, as reported to webhooks, or whose newest calls all failed. Sums by day say which
 * providers had errors; one look at an index for each model and application says which calls came last. Only calls
 * since the provider was last changed count.
 */
const FAILING_PROVIDERS = `
  WITH kind AS (
    SELECT DISTINCT used.app_id, used.model, used.provider_type, used.provider_slug FROM usage_days used
    WHERE used.organization_id = $1 AND used.day >= $2::date AND used.status IN ('ok', 'provider_error')
      AND used.provider_slug IN (
        SELECT failed.provider_slug FROM usage_days failed
        WHERE failed.organization_id = $1 AND failed.day >= $2::date AND failed.status = 'provider_error')),
  newest AS (
    SELECT kind.provider_slug, event.* FROM kind
    CROSS JOIN (VALUES ('ok', 1), ('provider_error', ${MOST_ERRORS})) AS wanted(status, most)
    CROSS JOIN LATERAL (
      SELECT one.id, one.status, one.created_at FROM usage_events one
      WHERE one.organization_id = $1 AND one.app_id = kind.app_id AND one.model = kind.model
        AND one.provider_type = kind.provider_type AND one.provider_slug = kind.provider_slug
        AND one.status = wanted.status AND one.created_at >= $2::date
      ORDER BY one.id DESC LIMIT wanted.most) event),
  ok AS (SELECT provider_slug, max(id) AS id FROM newest WHERE status = 'ok' GROUP BY provider_slug),
  failed AS (
    SELECT provider.id, count(*) AS count, min(newest.created_at) AS since
    FROM newest JOIN providers provider ON provider.organization_id = $1 AND provider.slug = newest.provider_slug
    LEFT JOIN ok ON ok.provider_slug = newest.provider_slug
    WHERE newest.status = 'provider_error' AND newest.id > coalesce(ok.id, 0)
      AND newest.created_at > provider.updated_at
    GROUP BY provider.id HAVING count(*) >= ${FAILED_IN_A_ROW})
  SELECT provider.id, provider.name, ${OF_NO_APP}, greatest(failed.count, health.errors, 1) AS count, ${NO_MONEY},
    least(failed.since, health.failing_since) AS since
  FROM providers provider LEFT JOIN failed ON failed.id = provider.id
  LEFT JOIN (
    SELECT told.provider_id, told.failing_since, sum((slot ->> 'errors')::bigint)::bigint AS errors
    FROM provider_health told CROSS JOIN LATERAL jsonb_array_elements(told.slots) slot
    WHERE told.failing_since IS NOT NULL GROUP BY told.provider_id) health
    ON health.provider_id = provider.id AND health.failing_since >= provider.updated_at
  WHERE provider.organization_id = $1 AND provider.status = 'active'
    AND (failed.id IS NOT NULL OR health.provider_id IS NOT NULL) ${BY_COUNT}`;

/**
 * Active applications with their budgets of this scope, in nano-dollars, and the start of the period. A budget of
 * nothing has no parts.
 */
const budgetsOf = (scope: 'per_app' | 'per_user') => `
  SELECT budgeted.* FROM (
    SELECT app.id, app.name, known.window_name,
      CASE known.window_name WHEN 'total' THEN date 'epoch'
        ELSE date_trunc(known.window_name, $2::date::timestamp)::date END AS period_start,
      CASE json_typeof(app.config #> '{limits,${scope},spending}' -> known.member)
        WHEN 'number' THEN round((app.config #> '{limits,${scope},spending}' ->> known.member)::numeric * 1e9) END AS budget
    FROM apps app CROSS JOIN (VALUES
      ('day', 'daily_usd'), ('week', 'weekly_usd'), ('month', 'monthly_usd'), ('total', 'total_usd')) AS known(window_name, member)
    WHERE app.organization_id = $1 AND app.status = 'active') budgeted
  WHERE budgeted.budget > 0`;

const NEARLY_SPENT = `spent.spent_nano_usd * 100 >= app.budget * ${BUDGET_PERCENT}`;
const OF_BUDGET = 'app.budget AS "budgetNanoUsd", app.window_name AS window, NULL::timestamptz AS since';

const APP_BUDGETS = `
  SELECT app.id, app.name, ${OF_APP}, 1 AS count, spent.spent_nano_usd AS "nanoUsd", ${OF_BUDGET}
  FROM (${budgetsOf('per_app')}) app JOIN budget_periods spent ON spent.organization_id = $1 AND spent.app_id = app.id
    AND spent.scope = 'app' AND spent.window_name = app.window_name AND spent.period_start = app.period_start
  WHERE ${NEARLY_SPENT}
  ORDER BY spent.spent_nano_usd / app.budget DESC, app.id, app.window_name LIMIT ${MAX_OF_KIND}`;

/** Users who are not blocked; the largest amount of one of them. */
const USER_BUDGETS = `
  SELECT app.id, app.name, ${OF_APP}, near.count, near.most AS "nanoUsd", ${OF_BUDGET}
  FROM (${budgetsOf('per_user')}) app CROSS JOIN LATERAL (
    SELECT count(*) AS count, max(spent.spent_nano_usd) AS most FROM budget_periods spent
    JOIN app_users known ON known.app_id = spent.app_id AND known.id = spent.subject AND known.status = 'active'
    WHERE spent.organization_id = $1 AND spent.app_id = app.id AND spent.scope = 'user'
      AND spent.window_name = app.window_name AND spent.period_start = app.period_start
      AND spent.spent_size > 0 AND spent.spent_size >= money_size((app.budget * ${BUDGET_PERCENT} / 100)::bigint)
      AND ${NEARLY_SPENT}) near
  WHERE near.count > 0 ORDER BY near.count DESC, app.id, app.window_name LIMIT ${MAX_OF_KIND}`;

const UNRESOLVED_COSTS = `
  SELECT app.id, app.name, ${OF_APP}, sum(used.requests) AS count, sum(used.estimated_nano_usd) AS "nanoUsd",
    NULL::numeric AS "budgetNanoUsd", min(used.day)::timestamp AT TIME ZONE 'UTC' AS since
  FROM usage_days used JOIN apps app ON app.organization_id = $1 AND app.id = used.app_id
  WHERE used.organization_id = $1 AND used.day >= $2::date AND used.cost_source = 'unresolved'
  GROUP BY app.id, app.name HAVING sum(used.requests) > 0 ${BY_COUNT}`;

/** A key that has expired needs nothing. */
const IS_VALID = '(key.expires_at IS NULL OR key.expires_at > now())';

const UNUSED_APP_KEYS = `
  SELECT key.id, key.name, ${OF_APP}, 1 AS count, ${NO_MONEY}, coalesce(key.last_used_at, key.created_at) AS since
  FROM app_keys key JOIN apps app ON app.organization_id = $1 AND app.id = key.app_id AND app.status = 'active'
  WHERE key.organization_id = $1 AND key.status = 'active' AND ${IS_VALID}
    AND coalesce(key.last_used_at, key.created_at) < $2::timestamptz
  ORDER BY since, key.id LIMIT ${MAX_OF_KIND}`;

/** Keys that were used at least once: for others it is unknown whether they were used before uses were recorded. */
const UNUSED_MANAGEMENT_KEYS = `
  SELECT key.id, key.name, ${OF_NO_APP}, 1 AS count, ${NO_MONEY}, key.last_used_at AS since FROM management_keys key
  WHERE key.organization_id = $1 AND key.revoked_at IS NULL AND key.last_used_at < $2::timestamptz
    AND ${IS_VALID}
  ORDER BY since, key.id LIMIT ${MAX_OF_KIND}`;

const QUERIES: Readonly<Record<AttentionKind, { readonly sql: string; readonly time: keyof AttentionTimes }>> = {
  provider_failing: { sql: FAILING_PROVIDERS, time: 'callsFrom' },
  app_budget: { sql: APP_BUDGETS, time: 'today' },
  user_budgets: { sql: USER_BUDGETS, time: 'today' },
  unresolved_costs: { sql: UNRESOLVED_COSTS, time: 'costsFrom' },
  unused_app_key: { sql: UNUSED_APP_KEYS, time: 'unusedSince' },
  unused_management_key: { sql: UNUSED_MANAGEMENT_KEYS, time: 'unusedSince' },
};

/** Reads the facts of an account that need attention, from the tables of other rooms. */
@Injectable()
export class AttentionRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** At most `MAX_OF_KIND`, the most pressing first. */
  list(organizationId: string, kind: AttentionKind, times: AttentionTimes): Promise<AttentionRow[]> {
    const { sql, time } = QUERIES[kind];
    return readBounded(this.dataSource, sql, [organizationId, times[time]]);
  }
}
