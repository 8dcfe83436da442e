import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { USER_TABLE_NAMES } from '../../../src/users/user-data.repository.js';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import { type ApiAnswer, codeOf } from '../../support/api-client.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

/** An id that JSON and addresses escape. */
const ID = 'ann "Ω"/7\n';
const OTHERS = ['ann "Ω"/7', 'x\nann "Ω"/7\n', 'bob'];

let world: World;
let db: DataSource;
let app: string;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  db = world.dataSource;
  organizationId = await firstOrganizationId(db);
  ({ id: app } = await world.app({ authentication: { type: 'api_key', end_user: { source: 'header' } } }));
  await world.api.post('/v1/admin/webhooks', { url: 'http://127.0.0.1:9/hook', events: ['user.*', 'budget.*'] });
  for (const id of [...OTHERS, ID]) await leaveTraces(id);
});

afterAll(() => world.stop());

/** A row in every table that has ids of users. */
async function leaveTraces(user: string): Promise<void> {
  const [now, mark] = [Date.now(), randomUUID()];
  await storeEvents(db, {
    ...{ organization_id: organizationId, app_id: app, user_id: user, created_at_ms: now, cost_nano_usd: 5 },
    limits: [{ scope: 'run', subject: `${mark}\n${now}\n${user}`, window_name: 'run', period_start: '1970-01-01' }],
  } as never);
  await db.query(
    `INSERT INTO device_keys (organization_id, app_id, key_id, user_id, public_key, counter, environment, created_at,
       last_used_at) VALUES ($1, $2, $4, $3, 'pem', 1, 'production', now(), now())`,
    [organizationId, app, user, mark],
  );
  await db.query(
    `INSERT INTO auth_events (event_id, organization_id, app_id, user_id, event, outcome, created_at)
     VALUES ($4, $1, $2, $3, 'register', 'ok', now())`,
    [organizationId, app, user, mark],
  );
  await db.query(
    `INSERT INTO kept_objects (app_id, object_id, user_id, kept_until)
     VALUES ($1, $3, $2, now() + interval '1 day')`,
    [app, user, mark],
  );
  await db.query('INSERT INTO limit_unsent (app_id, user_id, day, requests) VALUES ($1, $2, now(), 1)', [app, user]);
  await db.query(
    'INSERT INTO limit_counts (app_id, user_id, window_ms, window_start_ms, requests) VALUES ($1, $2, 60000, 0, 1)',
    [app, user],
  );
  await db.query(
    `INSERT INTO budget_runs (app_id, user_id, run_id, organization_id, budget_nano_usd, started_at, called_at)
     VALUES ($1, $2, $3, $4, 5, now(), now())`,
    [app, user, mark, organizationId],
  );
  await db.query(
    `INSERT INTO budget_grants (app_id, scope, subject, window_name, period_start, instance_id, granted_nano_usd)
     VALUES ($1, 'user', $2, 'month', '2026-11-01', $3, 5)`,
    [app, user, mark],
  );
  await world.api.post(`/v1/admin/apps/${app}/user/block?user_id=${encodeURIComponent(user)}`);
}

/** Every table of which a row has the text in any column, whatever the column's type. */
async function tablesWith(text: string): Promise<string[]> {
  const tables: { name: string }[] = await db.query(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition ORDER BY relname`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [{ has }] = await db.query(
      `SELECT EXISTS (SELECT FROM ${name} kept, json_each_text(to_json(kept)) AS cell
       WHERE strpos(cell.value, $1) > 0 OR strpos(cell.value, $2) > 0) AS has`,
      [text, JSON.stringify(text).slice(1, -1)],
    );
    if (has) found.push(name);
  }
  return found;
}

const named = (id: string) => `/v1/admin/apps/${app}/user/export?user_id=${encodeURIComponent(id)}`;
const linesOf = ({ text }: ApiAnswer): { table: string; row: Record<string, unknown> }[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('export of a user', () => {
  it('a user with a row in every table that can have one → every table that contains the id', async () => {
    const answer = await world.api.get(named(ID));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    const tables = new Set(linesOf(answer).map(({ table }) => table));
    expect([...tables].sort()).toEqual(await tablesWith(ID));
    expect([...tables].sort()).toEqual([...USER_TABLE_NAMES].sort());
  });

  it('users with similar ids → none of their rows', async () => {
    const text = (await world.api.get(named(ID))).text;
    for (const [at, { row }] of linesOf({ text } as ApiAnswer).entries()) {
      const cells = JSON.stringify(row);
      expect([at, cells.includes(JSON.stringify(ID).slice(1, -1))]).toEqual([at, true]);
      expect([at, cells.includes('x\\nann'), cells.includes('bob')]).toEqual([at, false, false]);
    }
    expect((await world.api.get(`/v1/admin/apps/${app}/users/${encodeURIComponent(ID)}/export`)).text).toBe(text);
  });

  it('more rows than one statement reads → each row once', async () => {
    const events = Array.from({ length: 2_300 }, (_none, at) => ({
      ...{ organization_id: organizationId, app_id: app, user_id: 'heavy', created_at_ms: Date.now() - at },
      ...{ model: `m-${at % 3}`, status: at % 2 === 0 ? 'ok' : 'provider_error' },
    }));
    await storeEvents(db, ...events);
    const rows = linesOf(await world.api.get(named('heavy'))).filter(({ table }) => table === 'usage_events');
    expect(new Set(rows.map(({ row }) => row.id)).size).toBe(2_300);
    expect(rows).toHaveLength(2_300);
  });

  it('an unknown user, an application of another account, a missing id → refused', async () => {
    const other = world.as((await newAccount(db)).key);
    expect(codeOf(await world.api.get(named('nobody')))).toEqual([404, 'not_found']);
    expect(codeOf(await other.get(named(ID)))).toEqual([404, 'app_not_found']);
    expect(codeOf(await world.api.get(`/v1/admin/apps/${app}/user/export`))).toEqual([400, 'invalid_request']);
    expect(codeOf(await world.as(undefined).get(named(ID)))).toEqual([401, 'auth_required']);
  });
});
