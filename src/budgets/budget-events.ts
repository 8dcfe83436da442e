import { eventBodyOf, eventIdOf, isoTime, outboxParts } from '../platform/outbox/outbox-statements.js';
import { BUDGET_KEY } from './budget-columns.js';

const EXHAUSTED = 'budget.exhausted';
const THRESHOLD_REACHED = 'budget.threshold_reached';
const DEFAULT_THRESHOLDS = '[0.5, 0.8, 1]';

/** Where the configuration of an application has its budgets. */
const CONFIGURED = [
  ...['day', 'week', 'month'].map((window) => ['user', window, 'per_user']),
  ...['day', 'week', 'month', 'total'].map((window) => ['app', window, 'per_app']),
];
const GROUP_WINDOWS = ['day', 'week', 'month', 'total'] as const;
const MEMBERS: Readonly<Record<string, string>> = {
  day: 'daily_usd',
  week: 'weekly_usd',
  month: 'monthly_usd',
  total: 'total_usd',
};
const BUDGET_PATHS = CONFIGURED.map(
  ([scope, window = '', limits]) =>
    `('${scope}', '${window}', '{limits,${limits},spending}'::text[], '${MEMBERS[window]}')`,
);

const GROUP_MEMBERS = GROUP_WINDOWS.map((window) => `('${window}', '${MEMBERS[window]}')`);

const KEY = BUDGET_KEY.join(', ');
const USD = (nanoUsd: string) => `(${nanoUsd})::numeric / 1000000000`;
const PERIOD_START =
  "CASE WHEN window_name IN ('total', 'run') THEN NULL ELSE period_start::timestamp AT TIME ZONE 'UTC' END";
/** The name of a group; its value follows a colon. */
const groupOf = (table: string) => `CASE ${table}scope WHEN 'group' THEN split_part(${table}subject, ':', 1) END`;
const ID = `CASE scope WHEN 'app' THEN app_id WHEN 'group' THEN substr(subject, strpos(subject, ':') + 1)
    ELSE subject END`;

const told = (type: string, threshold: string) => `
  SELECT ${eventIdOf({
    ...{ type: `'${type}'`, account: 'organization_id', app: 'app_id', scope: 'scope', id: 'subject' },
    ...{ window: 'window_name', periodStart: 'period_start', threshold, budget: 'budget' },
  })} AS id,
    organization_id, '${type}' AS type, app_id, 'budget ' || app_id || ' ' || scope || ' ' || subject AS subject,
    ${eventBodyOf(
      `'${type}'`,
      'now()',
      `json_build_object('account', organization_id, 'app', app_id, 'scope', scope, 'group', ${groupOf('')}, 'id', ${ID},
        'window', window_name, 'period_start', ${isoTime(`(${PERIOD_START})`)}, 'threshold', ${threshold},
        'budget_usd', ${USD('budget')}, 'spent_usd', ${USD('spent - estimated')}, 'estimated_usd', ${USD('estimated')})`,
    )} AS body,
    now() AS at, ${threshold} AS share`;

const asksForBudgets = (receiver: string) =>
  `(${receiver}.events IS NULL OR ${receiver}.events && '{budget.*,${EXHAUSTED},${THRESHOLD_REACHED}}'::text[])`;

/**
 * Parts of a `WITH` that store an event for each threshold of a budget that a charge passes. Nothing is computed for
 * applications of accounts where no webhook and no member asks for such events.
 *
 * They follow two parts: `spent`, charges by budget and period (`charge`), and `budgets`, which adds them to
 * `budget_periods` and returns the key, `organization_id`, `spent` and `estimated` after that.
 *
 * Source: docs/reference/webhooks.md#events.
 */
export const BUDGET_EVENT_PARTS = `
  watched AS MATERIALIZED (
    SELECT app.id, app.config::jsonb AS config FROM apps app
    WHERE app.id = ANY (ARRAY(SELECT DISTINCT app_id FROM spent)) AND (
      EXISTS (SELECT FROM webhooks hook WHERE hook.organization_id = app.organization_id AND hook.enabled
        AND ${asksForBudgets('hook')})
      OR EXISTS (SELECT FROM mail_subscriptions reader WHERE reader.organization_id = app.organization_id
        AND ${asksForBudgets('reader')}))),
  configured AS (
    SELECT watched.id AS app_id, known.scope, known.window_name, NULL AS group_name, watched.config #> known.path -> 'thresholds' AS thresholds,
      CASE jsonb_typeof(watched.config #> known.path -> known.member)
        WHEN 'number' THEN round((watched.config #> known.path ->> known.member)::numeric * 1000000000) END AS budget
    FROM watched CROSS JOIN (VALUES ${BUDGET_PATHS.join(', ')}) AS known(scope, window_name, path, member)
    UNION ALL
    SELECT watched.id, 'group', known.window_name, kind.key, kind.value #> '{spending,thresholds}',
      CASE jsonb_typeof(kind.value -> 'spending' -> known.member)
        WHEN 'number' THEN round((kind.value -> 'spending' ->> known.member)::numeric * 1000000000) END
    FROM watched CROSS JOIN LATERAL jsonb_each(coalesce(config #> '{limits,groups}', '{}')) kind
      CROSS JOIN (VALUES ${GROUP_MEMBERS.join(', ')}) AS known(window_name, member)),
  charged AS (
    SELECT budgets.*, configured.budget, configured.thresholds, budgets.spent - spent.charge AS before
    FROM budgets JOIN configured USING (app_id, scope, window_name) JOIN spent USING (${KEY})
    WHERE configured.budget > 0 AND configured.group_name IS NOT DISTINCT FROM ${groupOf('budgets.')}),
  crossed AS (
    SELECT charged.*, share.threshold FROM charged CROSS JOIN LATERAL (
      SELECT threshold::numeric FROM jsonb_array_elements_text(coalesce(thresholds, '${DEFAULT_THRESHOLDS}')) threshold) share
    WHERE before < budget * share.threshold AND spent >= budget * share.threshold),
  news AS (
    SELECT every.*, row_number() OVER (ORDER BY share, type DESC) AS place FROM (
      ${told(THRESHOLD_REACHED, 'threshold')} FROM crossed
      UNION ALL
      ${told(EXHAUSTED, '1::numeric')} FROM charged WHERE before < budget AND spent >= budget) every),
  ${outboxParts('news')}`;
