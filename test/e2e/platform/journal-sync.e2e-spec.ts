import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { eventually } from '../../support/eventually.js';
import { LimitedApp } from '../../support/limits/requests/limited-app.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { RESPONSE } from '../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PROGRAM = fileURLToPath(new URL('../../support/platform/doubtful-disk.mjs', import.meta.url));
const SLOW_MS = 60;
/** So slow that concurrent calls overlap while it works, even on a busy machine. */
const SHARED_MS = 500;
const BUDGET = { per_app: { spending: { monthly_usd: 1 } } };

let world: World;
let gateway: GatewayProcess;
let app: LimitedApp;

beforeEach(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
  app = await LimitedApp.create(world, BUDGET);
  await world.gateway.stop('test');
}, 180_000);

afterEach(async () => {
  await gateway.kill();
  await world.stop();
});

const safeFile = () => join(world.dataDir, 'safe.json');

async function startOnDisk(diskMs: number, sync: 'always' | 'interval'): Promise<void> {
  const settings = {
    ...world.environment,
    JOURNAL_SYNC: sync,
    JOURNAL_SYNC_MS: '10000',
    TEST_DISK_MS: String(diskMs),
    TEST_DISK_FILE: safeFile(),
  };
  gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings, PROGRAM);
  await gateway.start();
  const { appId, key, slug, providerId } = app.client;
  const there = { ...world, baseUrl: gateway.baseUrl };
  app = LimitedApp.of(there, new ProxyClient(there, appId, key, slug, providerId));
}

/** The number of syncs. */
const syncs = (): number => JSON.parse(readFileSync(safeFile(), 'utf8')).syncs;

/** The part of the journal that would survive a loss of power at this moment. */
function survivingJournal(): string {
  if (!existsSync(safeFile())) return '';
  const safe: Record<string, number> = JSON.parse(readFileSync(safeFile(), 'utf8'));
  const pieces = Object.entries(safe).map(([file, bytes]) =>
    existsSync(file) ? readFileSync(file).subarray(0, bytes).toString() : '',
  );
  return pieces.join('');
}

/** Answers each call, and records whether its admission would survive a loss of power when the provider receives it. */
function noteWhatSurvives(): Map<string, boolean> {
  const noted = new Map<string, boolean>();
  world.upstream.script(async (exchange) => {
    const user = /"safety_identifier":"([^"]+)"/.exec((await exchange.body()).toString())?.[1] ?? '';
    noted.set(user, survivingJournal().includes(`"user_id":"${user}"`));
    await json(200, RESPONSE)(exchange);
  });
  return noted;
}

/** What has been written to the journal, safe or not. */
function writtenJournal(): string {
  const root = join(world.dataDir, 'journal');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.log'));
  return files.map((name) => readFileSync(join(root, name), 'utf8')).join('');
}

/** Stored events of a user. */
async function eventsOf(user: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const { rows } = await client.query('SELECT * FROM usage_events WHERE user_id = $1', [user]);
  await client.end();
  return rows;
}

const callOf = (user: string) =>
  app.call(user, { body: { model: 'gpt-4.1', max_output_tokens: 1_000, safety_identifier: user } });

describe('a journal on a slow disk', () => {
  it('JOURNAL_SYNC=always → no provider sees a call whose admission could be lost; concurrent calls share the wait', async () => {
    const noted = noteWhatSurvives();
    await startOnDisk(SHARED_MS, 'always');
    for (const user of ['ann', 'ben']) expect((await callOf(user)).status).toBe(200);
    const before = syncs();
    const users = Array.from({ length: 40 }, (_, at) => `user-${at}`);
    const statuses = await Promise.all(users.map(async (user) => (await callOf(user)).status));
    expect(statuses).toEqual(Array(40).fill(200));
    // One after the other they would wait for 40 of them.
    expect(syncs() - before).toBeLessThan(40);
    expect(noted.size).toBe(42);
    expect([...noted].filter(([, survives]) => !survives)).toEqual([]);
  }, 180_000);

  it('JOURNAL_SYNC=interval → calls do not wait for it', async () => {
    const noted = noteWhatSurvives();
    await startOnDisk(SLOW_MS, 'interval');
    for (const user of ['ann', 'ben']) expect((await callOf(user)).status).toBe(200);
    expect([...noted.values()]).toEqual([false, false]);
  }, 180_000);
});

describe('JOURNAL_SYNC=always on a disk that fails', () => {
  it('503, nothing reaches the provider or is charged, readyz shows it; the disk works again → served', async () => {
    const noted = noteWhatSurvives();
    await startOnDisk(0, 'always');
    expect((await callOf('before')).status).toBe(200);
    gateway.signal('SIGUSR2');
    for (let call = 0; call < 3; call++) {
      const { status, headers, body } = await callOf('meanwhile');
      expect([status, headers['retry-after']]).toEqual([503, '1']);
      expect(JSON.parse(body.toString()).error.code).toBe('service_unavailable');
    }
    const readiness = async () => (await fetch(`${gateway.baseUrl}/v1/readyz`)).status;
    expect(await readiness()).toBe(503);
    expect([...noted.keys()]).toEqual(['before']);
    gateway.signal('SIGUSR2');
    expect((await callOf('after')).status).toBe(200);
    await eventually(async () => (await readiness()) === 200, { withinMs: 10_000 });
    expect([...noted]).toEqual([
      ['before', true],
      ['after', true],
    ]);
    await gateway.stop();
    await gateway.start();
    expect(await eventsOf('before')).toMatchObject([{ status: 'ok' }]);
    expect(await eventsOf('after')).toMatchObject([{ status: 'ok' }]);
    const refused = await eventsOf('meanwhile');
    expect(
      refused.map(({ status, cost_nano_usd, charged_nano_usd }) => [status, cost_nano_usd, charged_nano_usd]),
    ).toEqual(Array(3).fill(['provider_error', '0', null]));
  }, 180_000);

  it('killed while a call waits for the disk → no provider saw it, and it is recorded as interrupted', async () => {
    const noted = noteWhatSurvives();
    await startOnDisk(2_000, 'always');
    const call = callOf('ann').catch(() => undefined);
    await eventually(() => writtenJournal().includes('"user_id":"ann"'), { withinMs: 10_000 });
    await gateway.kill();
    await call;
    expect(noted.size).toBe(0);
    await startOnDisk(0, 'always');
    expect(await eventsOf('ann')).toMatchObject([{ cost_source: 'unresolved' }]);
  }, 180_000);
});
