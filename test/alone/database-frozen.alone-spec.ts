import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { AuthEvents } from '../../src/client-auth/events/auth-events.service.js';
import { firstOrganizationId } from '../support/accounts/accounts.js';
import { anAuthEvent } from '../support/client-auth/exchange/auth-events.js';
import { eventually } from '../support/eventually.js';
import { dropDatabase, freshDatabase } from '../support/platform/database.js';
import { startTcpProxy, type TcpProxy } from '../support/platform/tcp-proxy.js';
import { startWorld, type World } from '../support/world.js';

/** The maximum promised wait of requests, plus the overhead of two busy cores. */
const LONGEST_WAIT_MS = 2_000;
/** Once the outage is detected, no request waits. */
const AT_ONCE_MS = 300;
const RECOVERY = { withinMs: 5_000 };
/** A scrape does not query it. */
const SCRAPED_MS = 500;
/** More than the pool has connections. */
const CROWD = 40;

const SELECTED = { routing: { providers: { mode: 'all' }, model_rewrites: {} } };

interface Told {
  readonly status: number;
  readonly retryAfter: number;
  readonly waitedMs: number;
}

let databaseUrl: string;
let proxy: TcpProxy;
let world: World;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  const url = new URL(databaseUrl);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
  url.host = `127.0.0.1:${proxy.port}`;
  world = await startWorld({ env: { DATABASE_URL: url.href } });
});
afterAll(async () => {
  await world?.stop();
  await proxy?.close();
  await dropDatabase(databaseUrl);
});

async function ask(path: string, init: RequestInit = {}): Promise<Told> {
  const startedMs = performance.now();
  const answer = await fetch(world.baseUrl + path, {
    ...init,
    headers: { authorization: `Bearer ${world.managementKey}`, 'content-type': 'application/json', ...init.headers },
  });
  await answer.arrayBuffer();
  const retryAfter = Number(answer.headers.get('retry-after'));
  return { status: answer.status, retryAfter, waitedMs: performance.now() - startedMs };
}

function chat(app: { id: string; key: string }): Promise<Told> {
  return ask(`/v1/apps/${app.id}/proxy/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.key}` },
    body: JSON.stringify({ model: 'gpt-4.1', messages: [] }),
  });
}

const isReady = async () => (await ask('/v1/readyz')).status === 200;
/** Past the proxy. */
async function onceMore(sql: string, appId: string): Promise<{ user_id: string }[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(sql, [appId]);
  await client.end();
  return rows;
}

const lines = (message: string) => world.logs.filter((line) => line.message === message);

async function frozen(work: () => Promise<void>): Promise<void> {
  proxy.freeze();
  try {
    await work();
  } finally {
    proxy.thaw();
  }
  await eventually(isReady, RECOVERY);
}

describe('Postgres accepts bytes and does not answer', () => {
  it('many management calls at once → each refused with Retry-After within two seconds; the next ones at once', async () => {
    const app = await world.app(SELECTED);
    const paths = ['/v1/admin/providers', '/v1/admin/apps', `/v1/admin/apps/${app.id}/usage`, '/v1/admin/audit-events'];
    await frozen(async () => {
      const crowd = await Promise.all(Array.from({ length: CROWD }, (_, at) => ask(paths[at % paths.length] ?? '')));
      expect(new Set(crowd.map(({ status }) => status))).toEqual(new Set([503]));
      expect(Math.min(...crowd.map(({ retryAfter }) => retryAfter))).toBeGreaterThan(0);
      expect(Math.max(...crowd.map(({ waitedMs }) => waitedMs))).toBeLessThan(LONGEST_WAIT_MS);
      const later = await Promise.all(Array.from({ length: CROWD }, (_, at) => ask(paths[at % paths.length] ?? '')));
      expect(new Set(later.map(({ status }) => status))).toEqual(new Set([503]));
      expect(Math.max(...later.map(({ waitedMs }) => waitedMs))).toBeLessThan(AT_ONCE_MS);
    });
    expect((await ask('/v1/admin/providers')).status).toBe(200);
  });

  it('writes, a creation with receipts and a sign-in → refused within two seconds', async () => {
    await frozen(async () => {
      const write = { name: 'x', config: { authentication: { type: 'api_key' }, ...SELECTED } };
      const proof = (letter: string) => letter.repeat(40);
      const receipts = { 'idempotency-key': proof('a'), 'x-idempotency-proof': proof('b') };
      const told = await Promise.all([
        ask('/v1/admin/apps', { method: 'POST', body: JSON.stringify(write) }),
        ask('/v1/admin/apps', { method: 'POST', body: JSON.stringify(write), headers: receipts }),
        ask('/v1/auth/sign-in/email', {
          method: 'POST',
          headers: { origin: world.baseUrl },
          body: JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery' }),
        }),
      ]);
      expect(told.filter(({ status }) => status < 400)).toEqual([]);
      expect(Math.max(...told.map(({ waitedMs }) => waitedMs))).toBeLessThan(LONGEST_WAIT_MS);
    });
  });

  it('calls of an application in memory → served; of one that must be read → refused within two seconds', async () => {
    await world.provider({ type: 'openai' });
    const [warm, cold] = [await world.app(SELECTED), await world.app(SELECTED)];
    expect((await chat(warm)).status).toBe(200);
    await frozen(async () => {
      const told = await chat(cold);
      expect([told.status, told.retryAfter > 0]).toEqual([503, true]);
      expect(told.waitedMs).toBeLessThan(LONGEST_WAIT_MS);
      expect((await chat(warm)).status).toBe(200);
    });
    expect((await chat(cold)).status).toBe(200);
  });

  it('the log → one line when it is detected and one when Postgres answers again', async () => {
    const before = [lines('database_silent').length, lines('database_answers_again').length];
    await frozen(async () => {
      for (let at = 0; at < 5; at++) await ask('/v1/admin/providers');
    });
    const after = [lines('database_silent').length, lines('database_answers_again').length];
    expect(after).toEqual(before.map((count) => count + 1));
  });

  it('a scrape → answered at once', async () => {
    await frozen(async () => {
      await eventually(async () => (await ask('/v1/readyz')).status !== 200, { withinMs: 10_000 });
      const { status, waitedMs } = await ask('/metrics');
      expect([status, waitedMs < SCRAPED_MS]).toEqual([200, true]);
    });
  });

  it('it answers again → the service is ready within five seconds, and every event from the outage is stored once', async () => {
    const { id: appId } = await world.app();
    const organizationId = await firstOrganizationId(world.dataSource);
    const users = Array.from({ length: 1_200 }, (_, index) => `during-${index}`);
    proxy.freeze();
    for (const userId of users)
      world.gateway.app.get(AuthEvents).record(anAuthEvent({ organizationId, appId, userId }));
    await eventually(() => proxy.swallowed().includes('during-0'), { withinMs: 10_000 });
    proxy.thaw();
    const stored = async () => {
      const sql = 'SELECT user_id FROM auth_events WHERE app_id = $1 ORDER BY id';
      return (await onceMore(sql, appId)).map(({ user_id: user }) => user);
    };
    await eventually(async () => (await stored()).length === users.length && (await isReady()), RECOVERY);
    expect(await stored()).toEqual(users);
  });
});
