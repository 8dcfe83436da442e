import type pg from 'pg';
import { created } from '../../support/accounts/management-call.js';
import type { WebhookFleet } from './webhook-fleet.js';

/** A cause of events, and how to find the expected events in the database. */
export interface EventCause {
  readonly name: string;
  /**
   * Causes the event of this number at an instance; may throw when the instance is killed, also after it was caused.
   */
  cause(baseUrl: string, number: number): Promise<void>;
  /** A key for each expected event, from stored data other than events. */
  expected(database: pg.Pool): Promise<readonly string[]>;
  /** The key of an event; undefined: it has another cause. */
  keyOf(event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }): string | undefined;
}

const USER_HEADER = 'x-proof-user';
const TEAM_HEADER = 'x-proof-team';
const CALL = { model: 'gpt-4.1', input: 'hi' };
const LIMITED_CALLS = 2;
/** Of a call to the scripted provider: 10 prompt tokens and 2 output tokens. */
const CALL_NANO_USD = 36_000;
/** A first call crosses the first threshold of every budget, a second one the other and the budget itself. */
const BUDGET_NANO_USD = 1.5 * CALL_NANO_USD;
const THRESHOLDS = [0.5, 1];
const NANO_PER_USD = 1e9;

async function send(url: string, key: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Every kind of cause of the proof. */
export const CAUSES: readonly ((fleet: WebhookFleet) => Promise<EventCause>)[] = [audited, limited, spent];

/** Blocks a user: an audited action. */
async function audited(fleet: WebhookFleet): Promise<EventCause> {
  const app = await appOf(fleet, {});
  return {
    name: 'audited',
    async cause(baseUrl, number) {
      await send(`${baseUrl}/v1/admin/apps/${app.id}/users/user-${number}/block`, fleet.managementKey, {});
    },
    async expected(database) {
      const { rows } = await database.query<{ target_id: string }>(
        `SELECT target_id FROM audit_events WHERE action = 'user.blocked' AND app_id = $1`,
        [app.id],
      );
      return rows.map(({ target_id }) => `user.blocked ${target_id}`);
    },
    keyOf({ type, data }) {
      return type === 'user.blocked' ? `user.blocked ${(data.target as { id: string }).id}` : undefined;
    },
  };
}

/** Calls for a user more often than the limit allows. */
async function limited(fleet: WebhookFleet): Promise<EventCause> {
  const app = await appOf(fleet, { per_user: { requests: { per_day: LIMITED_CALLS - 1 } } });
  return {
    name: 'limits',
    async cause(baseUrl, number) {
      const url = `${baseUrl}/v1/apps/${app.id}/proxy/openai/v1/responses`;
      const headers = { [USER_HEADER]: `user-${number}` };
      for (let call = 0; call < LIMITED_CALLS; call++) await send(url, app.key, CALL, headers);
    },
    async expected(database) {
      const { rows } = await database.query<{ key: string }>(
        `SELECT DISTINCT concat_ws(' ', user_id, (created_at AT TIME ZONE 'UTC')::date) AS key FROM usage_events
          WHERE app_id = $1 AND refusal ->> 'reason' = 'user_day_limit_reached'`,
        [app.id],
      );
      return rows.map(({ key }) => `limit.exhausted ${key}`);
    },
    keyOf({ type, data }) {
      return type === 'limit.exhausted'
        ? `limit.exhausted ${data.id} ${String(data.period_start).slice(0, 10)}`
        : undefined;
    },
  };
}

/** The cost of the calls of each user, team and run, from the events. */
const SPENT = `
  SELECT scope, subject, sum(coalesce(charged_nano_usd, cost_nano_usd))::bigint AS spent
  FROM usage_events event CROSS JOIN LATERAL (
    SELECT 'user' AS scope, concat_ws(' ', user_id, (created_at AT TIME ZONE 'UTC')::date) AS subject
    UNION ALL SELECT 'group', groups ->> 'team'
    UNION ALL SELECT 'run', split_part(named ->> 'subject', E'\\n', 1)
      FROM jsonb_array_elements(limits) named WHERE named ->> 'scope' = 'run') who
  WHERE app_id = $1 AND status NOT LIKE 'blocked%' GROUP BY scope, subject`;

/** Spends the budgets of a user, a team and a run. Each budget is exceeded by two calls. */
async function spent(fleet: WebhookFleet): Promise<EventCause> {
  const usd = BUDGET_NANO_USD / NANO_PER_USD;
  const app = await appOf(fleet, {
    per_user: { spending: { daily_usd: usd, thresholds: THRESHOLDS } },
    groups: { team: { header: TEAM_HEADER, spending: { total_usd: usd, thresholds: THRESHOLDS } } },
    runs: { max_usd: usd },
  });
  const reached = (scope: string, subject: string, threshold: number) =>
    `budget.threshold_reached ${scope} ${subject} ${threshold}`;
  const exhausted = (scope: string, subject: string) => `budget.exhausted ${scope} ${subject}`;
  return {
    name: 'budgets',
    async cause(baseUrl, number) {
      const url = `${baseUrl}/v1/apps/${app.id}/proxy/openai/v1/chat/completions`;
      const headers = { [USER_HEADER]: `user-${number}`, [TEAM_HEADER]: `team-${number}`, 'x-run-id': `run-${number}` };
      const body = { model: CALL.model, max_tokens: 2, messages: [{ role: 'user', content: 'hi' }] };
      await send(url, app.key, body, headers);
      await send(url, app.key, body, headers);
    },
    async expected(database) {
      const { rows } = await database.query<{ scope: string; subject: string; spent: string }>(SPENT, [app.id]);
      return rows.flatMap(({ scope, subject, spent: nanoUsd }) => {
        const passed = scope === 'run' ? [] : THRESHOLDS.filter((part) => Number(nanoUsd) >= part * BUDGET_NANO_USD);
        const keys = passed.map((part) => reached(scope, subject, part));
        return Number(nanoUsd) >= BUDGET_NANO_USD ? [...keys, exhausted(scope, subject)] : keys;
      });
    },
    keyOf({ type, data }) {
      const scope = String(data.scope);
      const subject = scope === 'user' ? `${data.id} ${String(data.period_start).slice(0, 10)}` : String(data.id);
      if (type === 'budget.exhausted') return exhausted(scope, subject);
      return type === 'budget.threshold_reached' ? reached(scope, subject, Number(data.threshold)) : undefined;
    },
  };
}

async function appOf(fleet: WebhookFleet, limits: object): Promise<{ readonly id: string; readonly key: string }> {
  const config = {
    authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
    limits,
  };
  const { app } = await created(fleet, '/v1/admin/apps', { name: 'Proof', config });
  const { key } = await created(fleet, `/v1/admin/apps/${app.id}/keys`, { name: 'Proof' });
  return { id: app.id, key };
}
