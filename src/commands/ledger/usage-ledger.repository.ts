import type { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import {
  BUDGET_KEY,
  chargeToNamed,
  moneyOfNamed,
  namedBudgets,
  periodsOf,
  STORED_WINDOWS,
} from '../../budgets/budget-columns.js';
import { startOfDay } from '../../platform/database/utc-sql.js';
import {
  DAY_DIMENSIONS,
  ESTIMATE_OF_EVENT,
  SUM_COLUMNS,
  TOTAL_COLUMNS,
  timeClass,
} from '../../usage/recording/usage-columns.js';

/** Tables of sums to check. */
export const LEDGER_TABLES = [
  'usage_days',
  'usage_user_days',
  'usage_all_users_days',
  'usage_key_days',
  'usage_group_days',
  'usage_latencies',
  'usage_user_months',
  'usage_months',
  'usage_app_months',
  'budget_periods',
  'budget_totals',
  'budget_grants',
] as const;

export type LedgerTable = (typeof LEDGER_TABLES)[number];

/** One column of one row that differs from the sum of its events. Values are texts; null without a row. */
export interface LedgerDifference {
  /** Key columns of the row. */
  readonly key: Readonly<Record<string, string | null>>;
  readonly column: string;
  readonly stored: string | null;
  readonly recomputed: string | null;
}

const EVENTS = `
  SELECT event.*, (event.created_at AT TIME ZONE 'UTC')::date AS day,
    date_trunc('month', event.created_at AT TIME ZONE 'UTC')::date AS month,
    starts_with(event.status, 'blocked_') AS is_blocked, ${ESTIMATE_OF_EVENT} AS estimated_nano_usd
  FROM usage_events event
  WHERE event.organization_id = $1 AND event.app_id = $2
    AND event.created_at >= ${startOfDay(3)}`;

/** Calls whose times are counted. */
const TIMED = `SELECT * FROM (${EVENTS}) event WHERE status = 'ok'`;

const SUMS = SUM_COLUMNS.map((name) => `sum(${name}) AS ${name}`);
const OUTCOMES = [
  "sum(CASE status WHEN 'provider_error' THEN requests ELSE 0 END) AS errors",
  'sum(CASE WHEN is_blocked THEN requests ELSE 0 END) AS blocked',
];

/** Only months that lie entirely in the checked range. */
const WHOLE_MONTHS = 'month >= $3::date';

/** In `usage_user_months` all columns except the last two are aggregates over the user's days. */
const USER_MONTHS = `
  SELECT user_id, month, ${[...SUMS, 'sum(errors) AS errors', 'sum(blocked) AS blocked'].join(', ')},
    min(first_at) AS first_at, max(last_at) AS last_at, max(day) AS latest_day,
    (array_agg(requests - blocked ORDER BY day DESC))[1] AS latest_day_requests
  FROM (
    SELECT user_id, month, day, ${[...SUMS, ...OUTCOMES].join(', ')},
      min(created_at) AS first_at, max(created_at) AS last_at
    FROM (${EVENTS}) event WHERE user_id IS NOT NULL AND ${WHOLE_MONTHS} GROUP BY user_id, month, day) by_day
  GROUP BY user_id, month`;

/** Only periods that lie entirely in the checked range. */
const WHOLE_PERIODS = 'period_start >= $3::date';

const CHARGES = `sum(coalesce(charged_nano_usd, cost_nano_usd)) AS spent_nano_usd,
    sum(estimated_nano_usd) AS estimated_nano_usd`;

/** Charges of events against the budgets of one scope. @param subject SQL. */
const spentBy = (scope: keyof typeof STORED_WINDOWS, subject: string) => `
  SELECT '${scope}' AS scope, ${subject} AS subject, period.window_name, period.period_start, ${CHARGES}
  FROM (${EVENTS}) event CROSS JOIN LATERAL ${periodsOf(STORED_WINDOWS[scope], 'event.day')}
  WHERE ${subject} IS NOT NULL AND ${WHOLE_PERIODS}
  GROUP BY 1, 2, 3, 4
  HAVING sum(coalesce(charged_nano_usd, cost_nano_usd)) <> 0`;

/** The start of a run is in its subject. Totals of groups are compared where all their events are. */
const runStart = (table: string) =>
  `timestamptz 'epoch' + split_part(${table}.subject, E'\\n', 2)::bigint * interval '1 millisecond'`;
const APP_IS_YOUNG = 'EXISTS (SELECT FROM apps app WHERE app.id = $2 AND app.created_at >= $3::date)';
const isChecked = (table: string) => `CASE ${table}.window_name
    WHEN 'run' THEN ${runStart(table)} >= $3::date
    WHEN 'total' THEN ${table}.scope <> 'app' AND ${APP_IS_YOUNG}
    ELSE ${table}.window_name NOT LIKE 'minute%' AND ${table}.period_start >= $3::date END`;

const NAMED_CHARGE = chargeToNamed('coalesce(charged_nano_usd, cost_nano_usd)');

/** Charges against the budgets that the events name. */
const SPENT_NAMED = `
  SELECT named.scope, named.subject, named.window_name, named.period_start, sum(${NAMED_CHARGE}) AS spent_nano_usd,
    sum(${moneyOfNamed('estimated_nano_usd')}) AS estimated_nano_usd
  FROM (${EVENTS}) event CROSS JOIN LATERAL ${namedBudgets('event.limits')}
  WHERE ${isChecked('named')} GROUP BY 1, 2, 3, 4 HAVING sum(${NAMED_CHARGE}) <> 0`;

const SPENT = `${spentBy('app', "''")} UNION ALL ${spentBy('user', 'event.user_id')} UNION ALL ${SPENT_NAMED}`;

/** A total is compared with its months, while none of them is deleted: they are kept longer than the checked range. */
const MONTHS_ARE_KEPT = `scope = 'app' AND window_name = 'total' AND EXISTS (
      SELECT FROM apps app WHERE app.id = budget_periods.app_id AND app.created_at >= $3::date)`;

const CHECKED_GRANTS = `(window_name IN ('total', 'run') OR ${WHOLE_PERIODS})`;

interface Check {
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** The relation of the stored rows, when it is not the checked table itself. */
  readonly table?: string;
  /** Filter of the stored rows, in addition to the application. */
  readonly where: string;
  readonly recomputed: string;
}

const TOTAL_SUMS = TOTAL_COLUMNS.map((name) => `sum(${name}) AS ${name}`).join(', ');
const DAY_KEY = ['day', ...DAY_DIMENSIONS];
const MONTH_KEY = ['month', 'provider_type', 'model', 'status'];
/** The checked rows are of one application. */
const BUDGET_OF_APP = BUDGET_KEY.filter((name) => name !== 'app_id');
const FROM_FIRST_DAY = 'day >= $3::date';

/** `usage_months`: no month with days of the checked range may be folded. */
const CHECKS: Readonly<Record<LedgerTable, Check>> = {
  usage_days: {
    key: DAY_KEY,
    columns: SUM_COLUMNS,
    where: FROM_FIRST_DAY,
    recomputed: `SELECT ${[...DAY_KEY, ...SUMS].join(', ')} FROM (${EVENTS}) event GROUP BY ${DAY_KEY.join(', ')}`,
  },
  usage_user_days: {
    key: ['user_id', 'day'],
    columns: TOTAL_COLUMNS,
    where: FROM_FIRST_DAY,
    recomputed: `SELECT user_id, day, ${[...SUMS, ...OUTCOMES].join(', ')} FROM (${EVENTS}) event
      WHERE user_id IS NOT NULL GROUP BY user_id, day`,
  },
  usage_all_users_days: {
    key: ['day'],
    columns: TOTAL_COLUMNS,
    table: `(SELECT organization_id, app_id, day, ${TOTAL_SUMS} FROM usage_all_users_days
      GROUP BY organization_id, app_id, day HAVING sum(requests) <> 0) of_all_users`,
    where: FROM_FIRST_DAY,
    recomputed: `SELECT day, ${[...SUMS, ...OUTCOMES].join(', ')} FROM (${EVENTS}) event
      WHERE user_id IS NOT NULL GROUP BY day`,
  },
  usage_key_days: {
    key: ['api_key_id', 'day'],
    columns: TOTAL_COLUMNS,
    where: `${FROM_FIRST_DAY} AND requests <> 0`,
    recomputed: `SELECT api_key_id, day, ${[...SUMS, ...OUTCOMES].join(', ')} FROM (${EVENTS}) event
      WHERE api_key_id IS NOT NULL GROUP BY api_key_id, day`,
  },
  usage_group_days: {
    key: ['group_name', 'group_value', 'day'],
    columns: TOTAL_COLUMNS,
    where: `${FROM_FIRST_DAY} AND requests <> 0`,
    recomputed: `SELECT named.group_name, named.group_value, day, ${[...SUMS, ...OUTCOMES].join(', ')}
      FROM (${EVENTS}) event CROSS JOIN LATERAL jsonb_each_text(groups) AS named(group_name, group_value)
      GROUP BY named.group_name, named.group_value, day`,
  },
  usage_latencies: {
    key: ['day', 'provider_type', 'model', 'class'],
    columns: ['requests', 'durations'],
    where: FROM_FIRST_DAY,
    recomputed: `SELECT day, provider_type, model, class, sum(requests) AS requests, sum(durations) AS durations
      FROM (
        SELECT day, provider_type, model, ${timeClass('latency_ms')} AS class, 1 AS requests, 0 AS durations
        FROM (${TIMED}) event WHERE latency_ms IS NOT NULL
        UNION ALL
        SELECT day, provider_type, model, ${timeClass('duration_ms')} AS class, 0 AS requests, 1 AS durations
        FROM (${TIMED}) event WHERE duration_ms IS NOT NULL) event
      GROUP BY day, provider_type, model, class`,
  },
  usage_user_months: {
    key: ['user_id', 'month'],
    columns: [...TOTAL_COLUMNS, 'first_at', 'last_at', 'latest_day', 'latest_day_requests'],
    where: WHOLE_MONTHS,
    recomputed: USER_MONTHS,
  },
  usage_months: {
    key: MONTH_KEY,
    columns: SUM_COLUMNS,
    where: "month >= date_trunc('month', $3::date)",
    recomputed: `SELECT ${[...MONTH_KEY, ...SUMS].join(', ')} FROM (${EVENTS}) event WHERE false
      GROUP BY ${MONTH_KEY.join(', ')}`,
  },
  usage_app_months: {
    key: ['month'],
    columns: TOTAL_COLUMNS,
    table: `(SELECT organization_id, app_id, month, ${TOTAL_SUMS} FROM usage_app_months
      GROUP BY organization_id, app_id, month HAVING sum(requests) <> 0) of_app`,
    where: WHOLE_MONTHS,
    recomputed: `SELECT month, ${[...SUMS, ...OUTCOMES].join(', ')} FROM (${EVENTS}) event
      WHERE ${WHOLE_MONTHS} GROUP BY month`,
  },
  budget_periods: {
    key: BUDGET_OF_APP,
    columns: ['spent_nano_usd', 'estimated_nano_usd'],
    where: `spent_nano_usd <> 0 AND ${isChecked('budget_periods')}`,
    recomputed: SPENT,
  },
  budget_totals: {
    key: ['scope', 'subject'],
    columns: ['spent_nano_usd', 'estimated_nano_usd'],
    table: 'budget_periods',
    where: `spent_nano_usd <> 0 AND ${MONTHS_ARE_KEPT}`,
    recomputed: `SELECT scope, subject, sum(spent_nano_usd) AS spent_nano_usd, sum(estimated_nano_usd) AS estimated_nano_usd
      FROM budget_periods months WHERE organization_id = $1 AND app_id = $2 AND window_name = 'month' AND EXISTS (
        SELECT FROM budget_periods WHERE budget_periods.app_id = months.app_id AND budget_periods.scope = months.scope
          AND budget_periods.subject = months.subject AND ${MONTHS_ARE_KEPT})
      GROUP BY scope, subject HAVING sum(spent_nano_usd) <> 0`,
  },
  budget_grants: {
    key: BUDGET_OF_APP,
    columns: ['granted_nano_usd'],
    table: 'budget_periods',
    where: `granted_nano_usd <> 0 AND ${CHECKED_GRANTS}`,
    recomputed: `SELECT ${BUDGET_OF_APP.join(', ')}, sum(granted_nano_usd) AS granted_nano_usd FROM budget_grants
      WHERE app_id = $2 AND ${CHECKED_GRANTS} GROUP BY ${BUDGET_OF_APP.join(', ')} HAVING sum(granted_nano_usd) <> 0`,
  },
};

/** Compares stored and recomputed rows. Each key occurs at most once per side, so `max` only selects its value. */
function differences(table: LedgerTable): string {
  const { key, columns, where, recomputed, table: storedIn = table } = CHECKS[table];
  const sides = columns.flatMap((name) => [
    `max(${name}::text) FILTER (WHERE is_stored) AS stored_${name}`,
    `max(${name}::text) FILTER (WHERE NOT is_stored) AS recomputed_${name}`,
  ]);
  const names = [...key, ...columns].join(', ');
  return `
    SELECT jsonb_build_object(${key.map((name) => `'${name}', held.${name}::text`).join(', ')}) AS key,
      compared.name AS "column", compared.stored, compared.recomputed
    FROM (
      SELECT ${[...key, ...sides].join(', ')} FROM (
        SELECT true AS is_stored, ${names} FROM ${storedIn} WHERE organization_id = $1 AND app_id = $2 AND ${where}
        UNION ALL
        SELECT false, ${names} FROM (${recomputed}) recomputed) sides
      GROUP BY ${key.join(', ')}) held
    CROSS JOIN LATERAL (VALUES
      ${columns.map((name) => `('${name}', held.stored_${name}, held.recomputed_${name})`).join(', ')}
    ) AS compared(name, stored, recomputed)
    WHERE compared.stored IS DISTINCT FROM compared.recomputed
    ORDER BY 1, 2`;
}

const STORED_IN = new Set(LEDGER_TABLES.map((table) => CHECKS[table].table ?? table)).values().toArray();

/** Every application with events or sums; a loose index scan reads one event per application. */
const LIST_APPS = `
  WITH RECURSIVE recorded AS (
    (SELECT organization_id, app_id FROM usage_events ORDER BY organization_id, app_id LIMIT 1)
    UNION ALL
    SELECT next.* FROM recorded CROSS JOIN LATERAL (
      SELECT event.organization_id, event.app_id FROM usage_events event
      WHERE (event.organization_id, event.app_id) > (recorded.organization_id, recorded.app_id)
      ORDER BY event.organization_id, event.app_id LIMIT 1) next)
  SELECT organization_id AS "organizationId", app_id AS id FROM (
    SELECT organization_id, app_id FROM recorded
    ${STORED_IN.map((table) => `UNION SELECT organization_id, app_id FROM ${table}`).join(' ')}) known
  ORDER BY organization_id COLLATE "C", app_id COLLATE "C"`;

/** Compares usage sums with their events. Each query is one statement, so one snapshot. */
export class UsageLedgerRepository {
  constructor(private readonly dataSource: DataSource) {}

  listApps(): Promise<AppRef[]> {
    return this.dataSource.query(LIST_APPS);
  }

  /**
   * Columns of a table that differ from the sums of the application's events.
   *
   * @param firstDay earlier days are excluded; UTC, `YYYY-MM-DD`.
   */
  listDifferences(app: AppRef, table: LedgerTable, firstDay: string): Promise<LedgerDifference[]> {
    return this.dataSource.query(differences(table), [app.organizationId, app.id, firstDay]);
  }
}
