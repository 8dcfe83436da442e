import type pg from 'pg';
import { created } from '../../support/accounts/management-call.js';
import type { WebhookFleet } from './webhook-fleet.js';

/** Something that makes events, and how the database knows which events there must be. */
export interface EventCause {
  readonly name: string;
  /** Causes the event of this number at an instance; may throw when the instance is killed, also after it was caused. */
  cause(baseUrl: string, number: number): Promise<void>;
  /** A key for each event that there must be, from what is stored besides events. */
  expected(database: pg.Pool): Promise<readonly string[]>;
  /** The key of an event; undefined: another cause made it. */
  keyOf(event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> }): string | undefined;
}

const USER_HEADER = 'x-proof-user';
const LIMITED_CALLS = 2;

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
export const CAUSES: readonly ((fleet: WebhookFleet) => Promise<EventCause>)[] = [audited, limited];

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
      for (let call = 0; call < LIMITED_CALLS; call++)
        await send(url, app.key, { model: 'gpt-4.1', input: 'hi' }, headers);
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
