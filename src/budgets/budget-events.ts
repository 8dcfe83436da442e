import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { eventBodyOf, eventIdOf, isoTime, outboxParts } from '../platform/outbox/outbox-statements.js';
import { BUDGET_KEY, budgetOrder, periodsOf } from './budget-columns.js';

const EXHAUSTED = 'budget.exhausted';
const THRESHOLD_REACHED = 'budget.threshold_reached';
const DEFAULT_THRESHOLDS = '[0.5, 0.8, 1]';

/** Where the configuration of an application has its budgets. */
const CONFIGURED = [
  ...['day', 'week', 'month'].map((window) => ['user', window, 'per_user']),
  ...['day', 'week', 'month', 'total'].map((window) => ['app', window, 'per_app']),
];
/** Only reported when it is spent: every run has one, and `limits.runs` has no thresholds. */
const RUN_BUDGET = `('run', 'run', '{limits,runs}'::text[], 'max_usd')`;
const GROUP_WINDOWS = ['day', 'week', 'month', 'total'] as const;
const MEMBERS: Readonly<Record<string, string>> = {
  day: 'daily_usd',
  week: 'weekly_usd',
  month: 'monthly_usd',
  total: 'total_usd',
};
const BUDGET_PATHS = [
  ...CONFIGURED.map(
    ([scope, window = '', limits]) =>
      `('${scope}', '${window}', '{limits,${limits},spending}'::text[], '${MEMBERS[window]}')`,
  ),
  RUN_BUDGET,
];

const GROUP_MEMBERS = GROUP_WINDOWS.map((window) => `('${window}', '${MEMBERS[window]}')`);

const KEY = BUDGET_KEY.join(', ');
const USD = (nanoUsd: string) => `(${nanoUsd})::numeric / 1000000000`;
const BREAK = String.raw`E'\n'`;
/** Parts of the subject of a run. */
const RUN = {
  id: `split_part(subject, ${BREAK}, 1)`,
  startedAt: `CASE scope WHEN 'run' THEN
    timestamptz 'epoch' + split_part(subject, ${BREAK}, 2)::bigint * interval '1 millisecond' END`,
  userId: `substr(subject, strpos(subject, ${BREAK}) + length(split_part(subject, ${BREAK}, 2)) + 2)`,
};
const PERIOD_START = `CASE window_name WHEN 'total' THEN NULL WHEN 'run' THEN ${RUN.startedAt}
    ELSE period_start::timestamp AT TIME ZONE 'UTC' END`;
/** The name of a group; its value follows a colon. */
const groupOf = (table: string) => `CASE ${table}scope WHEN 'group' THEN split_part(${table}subject, ':', 1) END`;
const ID = `CASE scope WHEN 'app' THEN app_id WHEN 'group' THEN substr(subject, strpos(subject, ':') + 1)
    WHEN 'run' THEN ${RUN.id} ELSE subject END`;

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

/** Applications of accounts that subscribe to such events. @param which condition on `app`. */
const watchedWhere = (which: string) => `
  SELECT app.id, app.config::jsonb AS config FROM apps app WHERE ${which} AND (
    EXISTS (SELECT FROM webhooks hook WHERE hook.organization_id = app.organization_id AND hook.enabled
      AND ${asksForBudgets('hook')})
    OR EXISTS (SELECT FROM mail_subscriptions reader WHERE reader.organization_id = app.organization_id
      AND ${asksForBudgets('reader')}))`;

/**
 * The budgets of configurations; `group_name` is empty except for groups. @param source a part with `id` and `config`.
 */
const configuredIn = (source: string) => `
  SELECT source.id AS app_id, known.scope, known.window_name, '' AS group_name,
    CASE known.scope WHEN 'run' THEN '[]' ELSE source.config #> known.path -> 'thresholds' END AS thresholds,
    CASE jsonb_typeof(source.config #> known.path -> known.member)
      WHEN 'number' THEN round((source.config #> known.path ->> known.member)::numeric * 1000000000) END AS budget
  FROM ${source} source CROSS JOIN (VALUES ${BUDGET_PATHS.join(', ')}) AS known(scope, window_name, path, member)
  UNION ALL
  SELECT source.id, 'group', known.window_name, kind.key, kind.value #> '{spending,thresholds}',
    CASE jsonb_typeof(kind.value #> ARRAY['spending', known.member])
      WHEN 'number' THEN round((kind.value #>> ARRAY['spending', known.member])::numeric * 1000000000) END
  FROM ${source} source CROSS JOIN LATERAL jsonb_each(
      coalesce(source.config #> '{limits,groups}', '{}')
      || jsonb_strip_nulls(jsonb_build_object('unproven', source.config #> '{limits,unproven}'))) kind
    CROSS JOIN (VALUES ${GROUP_MEMBERS.join(', ')}) AS known(window_name, member)`;

const sharesOf = (thresholds: string) => `jsonb_array_elements_text(coalesce(${thresholds}, '${DEFAULT_THRESHOLDS}'))`;

/** Reports the rows of `crossed`, which have a `threshold`, and of `exhausted`, in the order of delivery. */
const NEWS = `
  news AS (
    SELECT every.*, row_number() OVER (ORDER BY share, type DESC) AS place FROM (
      ${told(THRESHOLD_REACHED, 'threshold')} FROM crossed
      UNION ALL
      ${told(EXHAUSTED, '1::numeric')} FROM exhausted) every),
  ${outboxParts('news')}`;

/**
 * Parts of a `WITH` that store an event for each threshold of a budget that a charge crosses. Nothing is computed for
 * applications of accounts where no webhook and no member subscribes to such events, and little for budgets below their
 * lowest threshold (`near`).
 *
 * They follow two parts: `spent`, charges by budget and period (`charge`), and `budgets`, which adds them to
 * `budget_periods` and returns the key, `organization_id`, `spent` and `estimated` after that.
 *
 * Source: docs/reference/webhooks.md#events.
 */
export const BUDGET_EVENT_PARTS = `
  watched AS MATERIALIZED (${watchedWhere('app.id = ANY (ARRAY(SELECT DISTINCT app_id FROM spent))')}),
  configured AS MATERIALIZED (
    SELECT known.*, coalesce((SELECT min(share::numeric) FROM ${sharesOf('thresholds')} share), 1) AS lowest
    FROM (${configuredIn('watched')}) known WHERE budget > 0),
  near AS MATERIALIZED (
    SELECT budgets.*, least(configured.budget, run.budget_nano_usd) AS budget, configured.thresholds
    FROM budgets JOIN configured USING (app_id, scope, window_name) LEFT JOIN LATERAL (
      SELECT budget_nano_usd FROM budget_runs WHERE budgets.scope = 'run' AND budget_runs.app_id = budgets.app_id
        AND run_id = ${RUN.id} AND user_id = ${RUN.userId} AND started_at = (${RUN.startedAt})) run ON true
    WHERE configured.group_name = coalesce(${groupOf('budgets.')}, '')
      AND (budgets.scope <> 'run' OR run.budget_nano_usd > 0)
      AND budgets.spent >= least(configured.budget, run.budget_nano_usd) * configured.lowest),
  charged AS (SELECT near.*, near.spent - spent.charge AS before FROM near JOIN spent USING (${KEY})),
  crossed AS (
    SELECT charged.*, share.threshold FROM charged CROSS JOIN LATERAL (
      SELECT threshold::numeric FROM ${sharesOf('thresholds')} threshold) share
    WHERE before < budget * share.threshold AND spent >= budget * share.threshold),
  exhausted AS (SELECT * FROM charged WHERE before < budget AND spent >= budget),
  ${NEWS}`;

/** A change of a budget of users or groups reports at most this many of them, those with the highest spending. */
const MOST_SPENDERS = 1_000;

/**
 * Reports what a change of the configuration crosses. What the application has spent is locked first, so that a
 * concurrent charge is counted by exactly one of the two. Rows are locked in the order of all statements.
 */
const TELL_OF_CHANGE = `
  WITH watched AS MATERIALIZED (${watchedWhere('app.id = $1')}),
  replaced AS (SELECT id, $2::jsonb AS config FROM watched),
  changed AS MATERIALIZED (
    SELECT configured.*, period.period_start, earlier.budget AS old_budget, earlier.thresholds AS old_thresholds,
      configured.budget * (SELECT min(share::numeric) FROM ${sharesOf('configured.thresholds')} share) AS lowest
    FROM (${configuredIn('watched')}) configured
    LEFT JOIN (${configuredIn('replaced')}) earlier USING (app_id, scope, window_name, group_name)
    JOIN ${periodsOf(GROUP_WINDOWS, "(now() AT TIME ZONE 'UTC')::date")} USING (window_name)
    WHERE configured.budget > 0
      AND (configured.budget, configured.thresholds) IS DISTINCT FROM (earlier.budget, earlier.thresholds)),
  found AS MATERIALIZED (
    SELECT changed.*, '' AS subject FROM changed WHERE scope = 'app'
    UNION ALL
    SELECT changed.*, spender.subject FROM changed CROSS JOIN LATERAL (
      SELECT used.subject FROM budget_periods used
      WHERE used.app_id = changed.app_id AND used.scope = changed.scope AND used.window_name = changed.window_name
        AND used.period_start = changed.period_start AND used.spent_size > 0
        AND (changed.scope = 'user' OR starts_with(used.subject, changed.group_name || ':'))
        AND used.spent_size >= money_size(ceil(least(lowest, budget))::bigint)
      ORDER BY used.spent_size DESC, used.subject LIMIT ${MOST_SPENDERS}) spender
    WHERE scope <> 'app'),
  judged AS MATERIALIZED (
    SELECT found.*, used.organization_id, used.spent_nano_usd AS spent, used.estimated_nano_usd AS estimated
    FROM budget_periods used JOIN found USING (${KEY}) ORDER BY ${budgetOrder('used')} FOR SHARE OF used),
  crossed AS (
    SELECT judged.*, share.threshold FROM judged CROSS JOIN LATERAL (
      SELECT threshold::numeric FROM ${sharesOf('thresholds')} threshold) share
    WHERE spent >= budget * share.threshold AND (coalesce(old_budget, 0) = 0 OR spent < old_budget * share.threshold
      OR share.threshold NOT IN (SELECT old::numeric FROM ${sharesOf('old_thresholds')} old))),
  exhausted AS (SELECT * FROM judged WHERE spent >= budget AND (coalesce(old_budget, 0) = 0 OR spent < old_budget)),
  ${NEWS}
  SELECT`;

/** Reports budgets that a change of their amount or thresholds crosses, to webhooks and mail. */
@Injectable()
export class BudgetChanges {
  /**
   * Stores the events in the transaction of the change.
   *
   * @param replaced the configuration before it.
   */
  async tell(tx: EntityManager, appId: string, replaced: unknown): Promise<void> {
    await tx.query(TELL_OF_CHANGE, [appId, JSON.stringify(replaced)]);
  }
}
