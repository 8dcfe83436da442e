import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { LimitedApp } from '../../support/limits/requests/limited-app.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { describeBreakingRedis, startRedis, type TestRedis } from '../../support/platform/redis.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const WITHIN = { withinMs: 15_000 };

let world: World;
let directory: string;
let redis: TestRedis;
let other: TestRedis;
let app: LimitedApp;
let processes: GatewayProcess[];

beforeEach(async () => {
  [redis, other] = await Promise.all([startRedis(), startRedis()]);
  directory = mkdtempSync(join(tmpdir(), 'gateway-marks-'));
  processes = [];
  world = await startWorld({ env: { REDIS_URL: redis.url } });
  app = await LimitedApp.create(world, { per_app: { requests: { per_minute: null, per_day: 10 } } });
  // From here on the processes serve.
  await world.gateway.stop('test');
}, 180_000);

afterEach(async () => {
  for (const one of processes) await one.kill();
  await world.stop();
  await Promise.all([redis.stop(), other.stop()]);
  rmSync(directory, { recursive: true, force: true });
});

async function prepare({ url }: Pick<TestRedis, 'url'>): Promise<GatewayProcess> {
  const settings = { ...world.environment, DATA_DIR: join(directory, String(processes.length)), REDIS_URL: url };
  const made = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings);
  processes.push(made);
  return made;
}

async function start(where: Pick<TestRedis, 'url'>): Promise<GatewayProcess> {
  const made = await prepare(where);
  await made.start();
  return made;
}

async function ready({ baseUrl }: GatewayProcess): Promise<Record<string, unknown>> {
  const answer = await fetch(`${baseUrl}/v1/readyz`);
  const { redis: state, limits, instances } = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, redis: state, limits, instances };
}

const reads = async (one: GatewayProcess, wanted: Record<string, unknown>) =>
  await eventually(async () => {
    const now = await ready(one);
    return Object.entries(wanted).every(([name, value]) => now[name] === value);
  }, WITHIN);

/** This many calls at each of them; returns how many were served. */
async function served(at: readonly GatewayProcess[], calls: number): Promise<number> {
  const { appId, key, slug, providerId } = app.client;
  const statuses: number[] = [];
  for (const { baseUrl } of at) {
    const there = { ...world, baseUrl };
    const one = LimitedApp.of(there, new ProxyClient(there, appId, key, slug, providerId));
    statuses.push(...(await one.calls(calls)));
  }
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  return statuses.filter((status) => status === 200).length;
}

describeBreakingRedis('instances of one database and two Redis servers', () => {
  it('one serves, another starts with a different Redis → refused, names REDIS_URL and the conflicting process', async () => {
    const first = await start(redis);
    const second = await prepare(other);
    await expect(second.start()).rejects.toThrow(
      /REDIS_URL names a different Redis than that of process \d+ on .*give all of them the same REDIS_URL/s,
    );
    await reads(first, { status: 200, redis: 'ok', limits: 'ok', instances: 1 });
    const third = await start(redis);
    await reads(third, { status: 200, redis: 'ok', limits: 'ok', instances: 2 });
  }, 180_000);

  it('two start at once with different ones → exactly one serves; the other does not start, or says why it cannot serve', async () => {
    const both = [await prepare(redis), await prepare(other)];
    const outcomes = await Promise.allSettled(both.map((one) => one.start()));
    const started = both.filter((_, at) => outcomes[at]?.status === 'fulfilled');
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toContain('REDIS_URL names a different Redis');
    }
    const isOne = async () =>
      (await Promise.all(started.map(ready))).filter(({ status }) => status === 200).length === 1;
    await eventually(isOne, WITHIN);
    // If its Redis was too slow to return its marker at the start, it appears a moment later.
    const said = (await Promise.all(started.map(ready))).map((one) => one.redis);
    expect(said.toSorted()).toEqual(started.length === 1 ? ['ok'] : ['ok', 'other']);
  }, 180_000);

  it('Redis is emptied, also while another instance starts → all continue together', async () => {
    const both = [await start(redis), await start(redis)];
    const client = new Redis(redis.url);
    for (let time = 0; time < 3; time++) {
      await client.flushall();
      const another = await prepare(redis);
      await Promise.all([client.flushall(), another.start()]);
      both.push(another);
    }
    await client.quit();
    for (const one of both) await reads(one, { status: 200, redis: 'ok', limits: 'ok', instances: 5 });
    expect(await served(both, 4)).toBe(10);
    expect(both.filter(({ written }) => written.includes('redis_differs'))).toEqual([]);
  }, 180_000);

  it('the other Redis answers only after its instance has started → exact counting without Redis, with the reason', async () => {
    const first = await start(redis);
    await other.kill();
    const second = await start(other);
    await other.revive();
    await reads(second, { status: 503, redis: 'other', limits: 'degraded', instances: 2 });
    await reads(first, { status: 200, redis: 'ok', limits: 'degraded', instances: 2 });
    expect(await served([first, second], 8)).toBe(10);
    // The first one is degraded as soon as the second one runs without Redis, and reports the markers later.
    await eventually(() => [first, second].every(({ written }) => written.includes('"redis_differs"')), WITHIN);
    for (const { written } of [first, second]) expect(written.match(/"redis_differs"/g)).toHaveLength(1);
  }, 180_000);

  it('REDIS_URL is changed one by one while the new Redis is not up yet → calls continue, then all instances count in it', async () => {
    const [old, older] = [await start(redis), await start(redis)];
    expect(await served([old, older], 2)).toBe(4);
    await other.kill();
    const first = await start(other);
    await old.stop();
    const second = await start(other);
    await older.stop();
    await reads(second, { status: 200, redis: 'lost', limits: 'degraded', instances: 2 });
    await other.revive();
    for (const one of [first, second]) await reads(one, { status: 200, redis: 'ok', limits: 'ok', instances: 2 });
    expect(await served([first, second], 8)).toBe(6);
  }, 180_000);
});
