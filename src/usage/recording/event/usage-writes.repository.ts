import { Injectable } from '@nestjs/common';
import {
  BUDGET_KEY,
  budgetOrder,
  chargeToNamed,
  moneyOfNamed,
  namedBudgets,
  periodsOf,
  STORED_WINDOWS,
} from '../../../budgets/budget-columns.js';
import { BUDGET_EVENT_PARTS } from '../../../budgets/budget-events.js';
import { BackgroundDataSource } from '../../../platform/database/pools.js';
import { DAY_DIMENSIONS, ESTIMATE_OF_EVENT, MEASURES, SUM_COLUMNS, TOTAL_COLUMNS } from '../usage-columns.js';
import type { EventArrays } from './event-arrays.js';
import { LIMIT_EVENTS } from './limit-events.js';

/** Members of a kind of calls. */
const KIND_COLUMNS = {
  organization_id: 'text',
  app_id: 'text',
  api_key_id: 'text',
  provider_type: 'text',
  provider_id: 'text',
  provider_slug: 'text',
  provider_gateway_id: 'text',
  provider_gateway_type: 'text',
  model_author: 'text',
  model: 'text',
  route: 'text',
  endpoint_slug: 'text',
  auth_method: 'text',
} as const;

/** Members of an event's JSON text that are stored unchanged. */
const PLAIN_COLUMNS = {
  event_id: 'text',
  user_id: 'text',
  credential_source: 'text',
  served_provider: 'text',
  served_model: 'text',
  reported_cost_nano_usd: 'bigint',
  charged_nano_usd: 'bigint',
  cost_source: 'text',
  app_version: 'text',
  status: 'text',
  latency_ms: 'integer',
  duration_ms: 'integer',
  attempts: 'json',
  response_id: 'text',
  usage_parts: 'jsonb',
  refusal: 'jsonb',
  groups: 'jsonb',
  limits: 'jsonb',
  charged_tokens: 'bigint',
} as const;

/** Members whose absence means zero. */
const COUNT_COLUMNS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'audio_milliseconds',
  'cost_nano_usd',
] as const;

const KIND_NAMES = Object.keys(KIND_COLUMNS);
const PLAIN_NAMES = Object.keys(PLAIN_COLUMNS);

const declared = (columns: object) => Object.entries(columns).map((column) => column.join(' '));

const DAY = ['organization_id', 'app_id', 'day', ...DAY_DIMENSIONS].join(', ');

const USER_DAY = ['organization_id', 'app_id', 'user_id', 'day', ...TOTAL_COLUMNS].join(', ');

const USER_MONTH = ['organization_id', 'app_id', 'user_id', 'month', ...TOTAL_COLUMNS, 'first_at', 'last_at'].join(
  ', ',
);

/** Columns of an event that the sums need in addition to its measures. */
const COUNTED = ['organization_id', 'app_id', 'user_id', 'created_at', ...DAY_DIMENSIONS].join(', ');

/** Measures of a `usage_events` row, as select expressions. */
const MEASURED = MEASURES.map((name) => (name === 'estimated_nano_usd' ? `${ESTIMATE_OF_EVENT} AS ${name}` : name));

const sums = (names: readonly string[]) => names.map((name) => `sum(${name}) AS ${name}`).join(', ');

/**
 * Condition that makes a statement part run after an earlier one, given by its name, so that locks are taken in one
 * order. Postgres evaluates the parts of a `WITH` in any order, except that a part which reads another waits for it.
 */
const after = (part: string) => `(SELECT count(*) FROM ${part}) >= 0`;

const raise = (names: readonly string[]) =>
  names.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ');

/**
 * Inserts the JSON array `$1` of events in its order; row ids ascend in that order. Each names its kind, whose members
 * are in the array `$2`: reading members that many events share once saves Postgres a sixth of its time. Two instances
 * rarely insert the same event (one of them on behalf of a dead process). If they deadlock, one of them retries.
 */
const insertEvents = (onConflict: string, returned = '') => `
  INSERT INTO usage_events
    (${[...KIND_NAMES, ...PLAIN_NAMES, ...COUNT_COLUMNS].join(', ')}, requests, client_aborted, created_at)
  SELECT ${KIND_NAMES.map((name) => `kind.${name}`).join(', ')}, ${PLAIN_NAMES.map((name) => `event.${name}`).join(', ')},
    ${COUNT_COLUMNS.map((name) => `coalesce(event.${name}, 0)`).join(', ')},
    coalesce(event.requests, 1), coalesce(event.client_aborted, false),
    timestamptz 'epoch' + event.created_at_ms * interval '1 millisecond'
  FROM ROWS FROM (json_to_recordset($1::json) AS (kind integer, ${declared(PLAIN_COLUMNS)},
    ${COUNT_COLUMNS.map((name) => `${name} bigint`)},
    requests integer, client_aborted boolean, created_at_ms bigint)) WITH ORDINALITY
    AS event(kind, ${[...PLAIN_NAMES, ...COUNT_COLUMNS].join(', ')}, requests, client_aborted, created_at_ms, place)
  JOIN json_to_recordset($2::json) AS kind(kind integer, ${declared(KIND_COLUMNS)}) USING (kind)
  ORDER BY event.place
  ON CONFLICT (event_id, created_at) ${onConflict} RETURNING event_id, requests, ${returned} ${COUNTED},
    ${MEASURED.join(', ')}, coalesce(charged_nano_usd, cost_nano_usd) AS charge`;

/**
 * Adds the rows of `added` to the sums by day and by user, in the statement that inserts them: both commit or neither,
 * and an event that was stored before adds nothing. The lock order prevents deadlocks between instances: rows of
 * `usage_days`, of `usage_user_days`, of `usage_user_months`, then of `budget_periods`, each by key. Every other writer
 * of these tables follows it. An application has one account.
 *
 * The requests of a user's latest UTC day that were not refused have their own count: a newer day restarts the
 * count, an older day does not change it.
 */
const ADD_TO_SUMS = `
  by_day AS (
    SELECT organization_id, app_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${DAY_DIMENSIONS.join(', ')},
      ${sums(SUM_COLUMNS)}, sum(charge) AS charge
    FROM added GROUP BY ${DAY}),
  days AS (
    INSERT INTO usage_days AS known (${DAY}, ${SUM_COLUMNS.join(', ')})
    SELECT ${DAY}, ${SUM_COLUMNS.join(', ')} FROM by_day
    ORDER BY app_id COLLATE "C", day, ${DAY_DIMENSIONS.map((name) => `${name} COLLATE "C"`).join(', ')}
    ON CONFLICT (app_id, day, dimensions) DO UPDATE SET ${raise(SUM_COLUMNS)} RETURNING 1),
  by_user AS (
    SELECT min(organization_id) AS organization_id, app_id, user_id, (created_at AT TIME ZONE 'UTC')::date AS day,
      ${sums(SUM_COLUMNS)}, sum(charge) AS charge,
      coalesce(sum(requests) FILTER (WHERE status = 'provider_error'), 0) AS errors,
      coalesce(sum(requests) FILTER (WHERE starts_with(status, 'blocked_')), 0) AS blocked,
      min(created_at) AS first_at, max(created_at) AS last_at
    FROM added WHERE user_id IS NOT NULL GROUP BY app_id, user_id, (created_at AT TIME ZONE 'UTC')::date),
  user_days AS (
    INSERT INTO usage_user_days AS known (${USER_DAY}) SELECT ${USER_DAY} FROM by_user
    WHERE ${after('days')}
    ORDER BY app_id COLLATE "C", day, user_id COLLATE "C"
    ON CONFLICT (app_id, day, user_id) DO UPDATE SET ${raise(TOTAL_COLUMNS)} RETURNING 1),
  by_month AS (
    SELECT min(organization_id) AS organization_id, app_id, user_id, date_trunc('month', day::timestamp)::date AS month,
      ${sums(TOTAL_COLUMNS)}, min(first_at) AS first_at, max(last_at) AS last_at, max(day) AS latest_day,
      (array_agg(requests - blocked ORDER BY day DESC))[1] AS latest_day_requests
    FROM by_user GROUP BY app_id, user_id, date_trunc('month', day::timestamp)::date),
  user_months AS (
    INSERT INTO usage_user_months AS known (${USER_MONTH}, latest_day, latest_day_requests)
    SELECT ${USER_MONTH}, latest_day, latest_day_requests FROM by_month
    WHERE ${after('user_days')}
    ORDER BY app_id COLLATE "C", user_id COLLATE "C", month
    ON CONFLICT (app_id, user_id, month) DO UPDATE SET ${raise(TOTAL_COLUMNS)},
      first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at),
      latest_day = greatest(known.latest_day, excluded.latest_day),
      latest_day_requests = CASE
        WHEN known.latest_day > excluded.latest_day THEN known.latest_day_requests
        WHEN known.latest_day < excluded.latest_day THEN excluded.latest_day_requests
        ELSE known.latest_day_requests + excluded.latest_day_requests END RETURNING 1)`;

const BUDGET = [...BUDGET_KEY, 'organization_id'].join(', ');
const SPENT = 'sum(charge) AS charge, sum(estimated_nano_usd) AS estimated_nano_usd';
const NAMED_CHARGE = chargeToNamed('charge');
const OF_PERIOD = 'period.window_name, period.period_start';

/**
 * Adds the charges of the events to the budgets of their application and user in every period, also where no budget is
 * set, and to the budgets that they name. The instance's grant for them stays until the instance returns it: until then
 * the charge counts twice, never zero times.
 */
const ADD_TO_BUDGETS = `
  spent AS (
    SELECT app_id, 'app' AS scope, '' AS subject, ${OF_PERIOD}, min(organization_id) AS organization_id, ${SPENT}
    FROM by_day CROSS JOIN LATERAL ${periodsOf(STORED_WINDOWS.app, 'day')}
    GROUP BY app_id, ${OF_PERIOD} HAVING sum(charge) > 0
    UNION ALL
    SELECT app_id, 'user', user_id, ${OF_PERIOD}, min(organization_id), ${SPENT}
    FROM by_user CROSS JOIN LATERAL ${periodsOf(STORED_WINDOWS.user, 'day')}
    GROUP BY app_id, user_id, ${OF_PERIOD} HAVING sum(charge) > 0
    UNION ALL
    SELECT app_id, named.scope, named.subject, named.window_name, named.period_start, min(organization_id),
      sum(${NAMED_CHARGE}), sum(${moneyOfNamed('estimated_nano_usd')})
    FROM added CROSS JOIN LATERAL ${namedBudgets('added.limits')}
    GROUP BY app_id, named.scope, named.subject, named.window_name, named.period_start HAVING sum(${NAMED_CHARGE}) > 0),
  budgets AS (
    INSERT INTO budget_periods AS known (${BUDGET}, spent_nano_usd, estimated_nano_usd)
    SELECT ${BUDGET}, charge, estimated_nano_usd FROM spent
    WHERE ${after('user_months')}
    ORDER BY ${budgetOrder()}
    ON CONFLICT (${BUDGET_KEY.join(', ')}) DO UPDATE
      SET spent_nano_usd = known.spent_nano_usd + excluded.spent_nano_usd,
        estimated_nano_usd = known.estimated_nano_usd + excluded.estimated_nano_usd
      RETURNING ${BUDGET}, spent_nano_usd AS spent, estimated_nano_usd AS estimated),
  ${BUDGET_EVENT_PARTS}`;

/** Idempotent. The caller appends the select list. */
const STORE_EVENTS = `WITH added AS (${insertEvents('DO NOTHING', 'limits, charged_tokens,')}), ${ADD_TO_SUMS}, ${ADD_TO_BUDGETS} SELECT`;

const RAISE_REQUESTS = 'DO UPDATE SET requests = excluded.requests WHERE usage_events.requests < excluded.requests';

/**
 * A refusal row has one writer, which raises `requests` from the count it has stored, `requests_before`. A repeated
 * statement, or one that a later count overtook, finds the row at least as high and adds nothing. A refusal has no
 * tokens and no cost.
 */
const COUNT_REFUSALS = `
  WITH raised AS (${insertEvents(RAISE_REQUESTS, 'refusal, groups,')}),
  added AS (
    SELECT ${COUNTED}, raised.refusal, raised.groups, before.requests_before, raised.requests - before.requests_before AS requests,
      ${[...MEASURES, 'charge'].map((name) => `0 AS ${name}`).join(', ')}
    FROM raised JOIN json_to_recordset($1::json) AS before(event_id text, requests_before integer) USING (event_id)),
  ${ADD_TO_SUMS}, ${LIMIT_EVENTS}
  SELECT`;

/** The part of a driver's connection that prepares a statement once and keeps it. */
interface NamedStatements {
  query(statement: { name: string; text: string; values: readonly unknown[] }): Promise<unknown>;
}

/** Writes `usage_events` and the sums that are updated in the same statement. */
@Injectable()
export class UsageWritesRepository {
  constructor(private readonly dataSource: BackgroundDataSource) {}

  /** Stores events; those that exist already stay unchanged. The statement is named: planning it takes 2 ms. */
  async insert({ events, kinds }: EventArrays): Promise<void> {
    const runner = this.dataSource.createQueryRunner();
    try {
      const client: NamedStatements = await runner.connect();
      await client.query({ name: 'store_events', text: STORE_EVENTS, values: [events, kinds] });
    } finally {
      await runner.release();
    }
  }

  /**
   * Stores events like `insert`.
   *
   * @returns the ids of the events that did not exist before.
   */
  async insertNew({ events, kinds }: EventArrays): Promise<string[]> {
    const text = `${STORE_EVENTS} event_id FROM added`;
    const rows = await this.dataSource.query<{ event_id: string }[]>(text, [events, kinds]);
    return rows.map((row) => row.event_id);
  }

  /** The current UTC day by the database clock, `YYYY-MM-DD`. */
  async databaseDay(): Promise<string> {
    const [row] = await this.dataSource.query<{ day: string }[]>(
      `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`,
    );
    if (row === undefined) throw new Error('Postgres returned no date');
    return row.day;
  }

  /** Raises the counts of refusal rows. Idempotent. */
  async countRefusals({ events, kinds }: EventArrays): Promise<void> {
    await this.dataSource.query(COUNT_REFUSALS, [events, kinds]);
  }
}
