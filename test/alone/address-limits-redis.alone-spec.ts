import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import {
  call,
  callTimes,
  freshAddress,
  from,
  KNOWN_APP,
  startLimitedWorld,
  statuses,
} from '../support/platform/address-limits/limited-routes.js';
import {
  describeBreakingRedis,
  describeWithRedis,
  reachRedis,
  startRedis,
  type TestRedis,
} from '../support/platform/redis.js';
import type { World } from '../support/world.js';

async function stateOf(world: World, state: string): Promise<boolean> {
  return (await world.api.get('/v1/readyz')).body.redis === state;
}

describe('address limits with an unavailable Redis', () => {
  it('Redis is unavailable at the start → the service starts, counts alone, reports it in readyz', async () => {
    const world = await startLimitedWorld({ REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      expect(statuses(await callTimes(61, world))).toEqual({ 204: 60, 429: 1 });
      expect((await world.api.get('/v1/readyz')).body).toMatchObject({ ready: true, redis: 'lost' });
    } finally {
      await world.stop();
    }
  });
});

describeWithRedis('address limits of two instances with one Redis', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let worlds: World[];

  beforeAll(async () => {
    redis = await reachRedis();
    const env = { TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url };
    worlds = await Promise.all([startLimitedWorld(env), startLimitedWorld(env)]);
    await Promise.all(worlds.map((world) => eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 })));
  });
  afterAll(async () => {
    await Promise.all((worlds ?? []).map((world) => world.stop()));
    await redis?.stop();
  });

  it('200 calls at once over both → exactly 60 pass in total', async () => {
    // An address used only by this run: a shared Redis may still have the counts of the previous run.
    const address = `2001:db8:${process.pid.toString(16)}:${(Date.now() & 0xffff).toString(16)}::1`;
    const answers = await Promise.all(worlds.map((world) => callTimes(100, world, from(address))));
    expect(statuses(answers.flat())).toEqual({ 204: 60, 429: 140 });
    expect(worlds.flatMap(({ logs }) => logs).filter(({ message }) => message === 'redis_lost')).toEqual([]);
  });
});

describeBreakingRedis('address limits while Redis fails', () => {
  let redis: TestRedis;
  let world: World;
  let address: string;

  beforeAll(async () => {
    redis = await startRedis();
    world = await startLimitedWorld({ TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url });
  });
  beforeEach(async () => {
    address = freshAddress();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    world.logs.length = 0;
  });
  afterAll(async () => {
    await world?.stop();
    await redis?.stop();
  });

  const lines = () =>
    world.logs.map(({ message }) => message).filter((message) => String(message).startsWith('redis_'));

  /** Without the OpenAPI check, whose own time would be measured. */
  async function callTimed(): Promise<{ status: number; ms: number }> {
    const startedAt = performance.now();
    const { status } = await fetch(`${world.baseUrl}/v1/apps/${KNOWN_APP}/greeting`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body: '{"word":"hello"}',
    });
    return { status, ms: performance.now() - startedAt };
  }

  /** 40 calls have passed before the outage: 20 more pass during it, each answered within a second. */
  async function expectLimitDuringOutage(): Promise<void> {
    const answers: { status: number; ms: number }[] = [];
    for (let at = 0; at < 25; at++) answers.push(await callTimed());
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(1_000);
    const { status, body } = await world.api.get('/v1/readyz');
    expect([status, body.ready, body.redis]).toEqual([200, true, 'lost']);
  }

  it('killed in the middle of a window → still answers and limits; started again → back within 5 s', async () => {
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 40 });
    await redis.kill();
    await expectLimitDuringOutage();
    await redis.revive();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
    expect(lines()).toEqual(['redis_lost', 'redis_back']);
  });

  it('frozen in the middle of a window → still answers and limits; unfrozen → back within 5 s', async () => {
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 40 });
    redis.freeze();
    await expectLimitDuringOutage();
    redis.thaw();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(await call(world, from(address))).toMatchObject({ status: 429 });
    expect(lines()).toEqual(['redis_lost', 'redis_back']);
  });

  it('frozen under parallel calls → all answered within a second, never more than 60 pass', async () => {
    redis.freeze();
    const answers = await Promise.all(Array.from({ length: 80 }, () => callTimed()));
    redis.thaw();
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(60);
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(1_000);
  });

  it('flushed in the middle of a window → this instance still admits no more than 60', async () => {
    await callTimes(40, world, from(address));
    await redis.kill();
    await redis.revive();
    await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
    expect(statuses(await callTimes(40, world, from(address)))).toEqual({ 204: 20, 429: 20 });
  });
});

describeBreakingRedis('what Redis holds', () => {
  it('counters → hashed names with the prefix gw:, each expiring after two windows', async () => {
    const redis = await startRedis();
    const world = await startLimitedWorld({ TRUSTED_PROXIES: '127.0.0.1', REDIS_URL: redis.url });
    try {
      await eventually(() => stateOf(world, 'ok'), { withinMs: 5_000 });
      await call(world, from('203.0.113.77'));
      const client = new Redis(redis.url);
      // Written with the next heartbeat, or already with the previous one.
      await eventually(async () => (await client.exists('gw:mark')) === 1, { withinMs: 5_000 });
      const keys = (await client.keys('*')).sort();
      expect(keys).toEqual([
        expect.stringMatching(new RegExp(`^gw:limit:app_auth_token:${Date.UTC(2030, 0, 1, 10, 0)}:[A-Za-z0-9_-]{43}$`)),
        'gw:mark',
        'gw:probe',
      ]);
      const lifeMs = await client.pttl(keys[0] ?? '');
      expect(lifeMs).toBeGreaterThan(110_000);
      expect(lifeMs).toBeLessThanOrEqual(120_000);
      await client.quit();
    } finally {
      await world.stop();
      await redis.stop();
    }
  });
});
