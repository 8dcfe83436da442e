import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RunningGateway } from '../../../../src/bootstrap/start.js';
import type { CounterBackend } from '../../../../src/limits/requests/backends/counter-backends.service.js';
import { LimitEpochs } from '../../../../src/limits/requests/epochs/limit-epochs.service.js';
import { windowIndex } from '../../../../src/limits/requests/request-limit.rules.js';
import { RequestLimits } from '../../../../src/limits/requests/request-limits.service.js';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { LimitedApp } from '../../../support/limits/requests/limited-app.js';
import { aCall, burst, outcomeOf, type TestLimits } from '../../../support/limits/requests/limited-calls.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { describeBreakingRedis, startRedis, type TestRedis } from '../../../support/platform/redis.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const BACK_WITHIN_MS = 10_000;
/** As many as are kept before idle ones leave. */
const CROWD = 100_000;

function backendOf({ app }: RunningGateway): CounterBackend {
  const { backend } = app.get(LimitEpochs);
  if (backend === undefined) throw new Error('nothing is counted');
  return backend;
}

describeBreakingRedis('request limits of two instances with one Redis', () => {
  const clock = new FakeClock(NOON);
  let redis: TestRedis;
  let world: World;
  let second: FurtherInstance;
  let both: RequestLimits[];
  let further: FurtherInstance[];
  let app: string;
  let apps = 0;

  beforeAll(async () => {
    redis = await startRedis();
    world = await startWorld({ clock, env: { REDIS_URL: redis.url } });
    second = await startFurtherInstance(world, undefined, { clock });
    both = [world.gateway, second.gateway].map((gateway) => gateway.app.get(RequestLimits));
  });
  beforeEach(async () => {
    app = `app-${++apps}`;
    further = [];
    // Another minute for each test, so that tests do not affect each other.
    clock.advance(5 * MINUTE_MS);
    await eventually(isCountedInRedis, { withinMs: BACK_WITHIN_MS });
    world.logs.length = 0;
  });
  afterEach(() => Promise.all(further.map((one) => one.stop())));
  afterAll(async () => {
    await second?.stop();
    await world?.stop();
    await redis?.stop();
  });

  const degraded = () => [world.gateway, second.gateway].map((one) => one.app.get(Metrics).limitsDegraded.read());
  const isCountedInRedis = () => degraded().every((value) => value === 0);
  const isDegraded = () => degraded().every((value) => value === 1);
  const lines = () => world.logs.filter(({ message }) => String(message).startsWith('limits_'));

  /** Calls at both instances at once. */
  async function burstAtBoth(limits: TestLimits, calls: number, user: string | null = 'alice'): Promise<number> {
    const outcomes = await Promise.all(both.map((one) => burst(one, aCall(app, user, limits), calls)));
    return outcomes.reduce((sum, { passed }) => sum + passed, 0);
  }

  it.each([
    ['user', 'perMinute'],
    ['user', 'perDay'],
    ['app', 'perMinute'],
    ['app', 'perDay'],
  ] as const)('%s %s: 200 calls at once over both → exactly 50 pass', async (scope, kind) => {
    expect(await burstAtBoth({ [scope]: { [kind]: 50 } }, 100)).toBe(50);
    expect(await burstAtBoth({ [scope]: { [kind]: 51 } }, 100)).toBe(1);
    expect(lines()).toEqual([]);
  });

  it('all limits at once → the first limit reached refuses, on both', async () => {
    const limits = { user: { perMinute: 5, perDay: 7 }, app: { perMinute: 8, perDay: 9 } };
    expect(await burstAtBoth(limits, 20)).toBe(5);
    expect(await outcomeOf(at(1), aCall(app, 'alice', limits))).toBe('user_minute_limit_reached');
    expect(await burstAtBoth(limits, 20, 'bob')).toBe(3);
    expect(await outcomeOf(at(0), aCall(app, 'bob', limits))).toBe('app_minute_limit_reached');
    clock.advance(MINUTE_MS);
    expect(await burstAtBoth(limits, 20, 'alice')).toBe(1);
    expect(await outcomeOf(at(1), aCall(app, 'carol', limits))).toBe('app_day_limit_reached');
    expect(await at(1).countToday(aCall(app, 'alice', limits))).toBe(6);
    await expect(async () => at(0).requireUser(aCall(app, 'bob', { user: { perDay: 3 } }))).rejects.toMatchObject({
      reason: 'user_day_limit_reached',
    });
  });

  it('users, calls without one, limits that change and checks in one turn → each call in all its counters or in none', async () => {
    const limits = { user: { perMinute: 4, perDay: 100 }, app: { perMinute: 11 } };
    const raised = { ...limits, app: { perMinute: 12 } };
    const users = ['alice', 'bob', 'carol'];
    // From here on their days are known, and nothing waits for Postgres.
    for (const user of users) expect(await outcomeOf(at(0), aCall(app, user, limits))).toBe('passed');
    const checks = users.map((user) => at(0).countToday(aCall(app, user, limits)));
    const calls = [
      ...['alice', 'alice', 'bob', 'alice', null, 'bob', 'alice', 'bob'].map((user) => aCall(app, user, limits)),
      ...[limits, limits, raised, raised].map((those) => aCall(app, 'carol', those)),
    ];
    const ended = await Promise.all(calls.map((call) => outcomeOf(at(0), call)));
    const [yes, ofUser, ofApp] = ['passed', 'user_minute_limit_reached', 'app_minute_limit_reached'];
    expect(ended).toEqual([yes, yes, yes, yes, yes, yes, ofUser, yes, yes, ofApp, yes, ofApp]);
    for (const count of await Promise.all(checks)) expect([1, 2, 3, 4]).toContain(count);
    const counts = users.map((user) => at(1).countToday(aCall(app, user, limits)));
    expect(await Promise.all(counts)).toEqual([4, 4, 3]);
  });

  it('requests recorded today → count, however many instances query at once', async () => {
    const events = Array.from({ length: 20 }, () => ({
      organization_id: 'org-1',
      app_id: app,
      user_id: 'alice',
      created_at_ms: clock.nowMs(),
    }));
    await storeEvents(world.dataSource, ...events);
    expect(await burstAtBoth({ user: { perDay: 50 }, app: { perDay: 50 } }, 60)).toBe(30);
  });

  it('over HTTP, at both instances at once → exactly as many are served as the limit allows', async () => {
    const limits = { per_user: { requests: { per_minute: 12, per_day: null } } };
    const served = await LimitedApp.create(world, limits);
    const { appId, key, slug, providerId } = served.client;
    const there = { ...world, baseUrl: second.baseUrl };
    const other = LimitedApp.of(there, new ProxyClient(there, appId, key, slug, providerId));
    const calls = [served, other].flatMap((one) => Array.from({ length: 20 }, () => one.call()));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(12);
    expect(statuses.filter((status) => status === 429)).toHaveLength(28);
    expect((await other.call('ben')).status).toBe(200);
  });

  it('a third instance joins, and one leaves → the same counts', async () => {
    expect(await burstAtBoth({ user: { perMinute: 30, perDay: 40 } }, 10)).toBe(20);
    const third = await startFurtherInstance(world, undefined, { clock });
    further.push(third);
    const call = aCall(app, 'alice', { user: { perMinute: 30, perDay: 40 } });
    expect((await burst(third.gateway.app.get(RequestLimits), call, 50)).passed).toBe(10);
    expect(lines()).toEqual([]);
  });

  it('flooded beyond the limit → Redis is no longer called', async () => {
    await burstAtBoth({ user: { perMinute: 3 } }, 10);
    const client = new Redis(redis.url);
    const asked = async () => Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    const before = await asked();
    await burstAtBoth({ user: { perMinute: 3 } }, 1_000);
    expect((await asked()) - before).toBeLessThan(50);
    await client.quit();
  });

  it('killed in the middle of a burst → served within shares, never above the limit; revived → back within 5 s', async () => {
    const limits = { user: { perMinute: 100, perDay: 120 } };
    let passed = await burstAtBoth(limits, 20);
    expect(passed).toBe(40);
    const during = burstAtBoth(limits, 15);
    await redis.kill();
    passed += await during;
    await eventually(isDegraded, { withinMs: BACK_WITHIN_MS });
    const first = await burst(at(0), aCall(app, 'alice', limits), 200);
    const other = await burst(at(1), aCall(app, 'alice', limits), 200);
    expect(first.passed).toBeGreaterThan(0);
    expect(other.passed).toBeGreaterThan(0);
    passed += first.passed + other.passed;
    expect(passed).toBe(100);
    expect((await world.api.get('/v1/readyz')).body).toMatchObject({ ready: true, limits: 'degraded' });
    await redis.revive();
    await eventually(isCountedInRedis, { withinMs: BACK_WITHIN_MS });
    expect(await burstAtBoth(limits, 50)).toBe(0);
    clock.advance(MINUTE_MS);
    expect(await burstAtBoth(limits, 50)).toBe(20);
    clock.advance(24 * 60 * MINUTE_MS);
    expect(await burstAtBoth(limits, 80)).toBe(100);
    expect(lines().map(({ message }) => message)).toEqual(['limits_degraded', 'limits_restored']);
  });

  it('frozen during calls → served within shares, never above the limit; unfrozen → back within 5 s', async () => {
    const limits = { app: { perMinute: 60 } };
    let passed = await burstAtBoth(limits, 5);
    redis.freeze();
    passed += await burstAtBoth(limits, 5);
    await eventually(isDegraded, { withinMs: BACK_WITHIN_MS });
    passed += await burstAtBoth(limits, 100);
    expect(passed).toBe(60);
    redis.thaw();
    await eventually(isCountedInRedis, { withinMs: BACK_WITHIN_MS });
    expect(await burstAtBoth(limits, 50)).toBe(0);
    clock.advance(MINUTE_MS);
    expect(await burstAtBoth(limits, 50)).toBe(60);
  });

  it('flushed → counted again from the instances’ counts, and the daily count is correct', async () => {
    const limits = { user: { perMinute: 40, perDay: 50 } };
    expect(await burstAtBoth(limits, 10)).toBe(20);
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
    expect(await burstAtBoth(limits, 100)).toBe(20);
    clock.advance(MINUTE_MS);
    expect(await burstAtBoth(limits, 100)).toBe(10);
    expect(lines()).toEqual([expect.objectContaining({ message: 'limits_recounted', reason: 'redis_forgot' })]);
  });

  it('an instance joins while Redis is lost → new shares, never above the limit', async () => {
    const limits = { app: { perMinute: 90, perDay: 100 } };
    let passed = await burstAtBoth(limits, 10);
    await redis.kill();
    await eventually(isDegraded, { withinMs: BACK_WITHIN_MS });
    passed += await burstAtBoth(limits, 10);
    const third = await startFurtherInstance(world, undefined, { clock });
    further.push(third);
    const call = aCall(app, 'alice', limits);
    const all = [...both, third.gateway.app.get(RequestLimits)];
    const outcomes = await Promise.all(all.map((one) => burst(one, call, 100)));
    for (const { passed: some } of outcomes) {
      expect(some).toBeGreaterThan(0);
      passed += some;
    }
    expect(passed).toBe(90);
    await third.stop();
    further.pop();
    await redis.revive();
    await eventually(isCountedInRedis, { withinMs: BACK_WITHIN_MS });
    expect(await burstAtBoth(limits, 50)).toBe(0);
    clock.advance(MINUTE_MS);
    expect(await burstAtBoth(limits, 50)).toBe(10);
  });

  it('the application is at its limit → made-up users are refused on either instance, without a Postgres query', async () => {
    const limits = { user: { perMinute: 9, perDay: 9 }, app: { perMinute: 9, perDay: 3 } };
    expect((await burst(at(0), aCall(app, 'ann', limits), 3)).passed).toBe(3);
    await world.dataSource.query('ALTER TABLE usage_user_days RENAME TO usage_user_days_away');
    for (let user = 0; user < 40; user++) {
      expect(await outcomeOf(at(user % 2), aCall(app, `user-${user}`, limits))).toBe('app_day_limit_reached');
    }
    await world.dataSource.query('ALTER TABLE usage_user_days_away RENAME TO usage_user_days');
  });

  it('more users than can be kept → idle ones are evicted; Redis loses its data too → its counts are still known', async () => {
    const limits = { user: { perDay: 8 } };
    expect(await burstAtBoth(limits, 2)).toBe(4);
    const { counters } = backendOf(world.gateway);
    const call = aCall(app, 'alice', limits);
    for (let user = 0; user < CROWD; user++)
      counters.ofUser(call, `user-${user}`, windowIndex('minute', clock.nowMs()));
    clock.advance(2 * MINUTE_MS);
    const own = () => counters.findUser(call, 'alice', windowIndex('minute', clock.nowMs() - 2 * MINUTE_MS));
    await eventually(() => own() === undefined, { withinMs: BACK_WITHIN_MS });
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
    expect(await burstAtBoth(limits, 10)).toBe(4);
  });

  it('keys in Redis → no user names, an expiry, one slot per application', async () => {
    await burstAtBoth({ user: { perMinute: 5, perDay: 5 }, app: { perMinute: 9, perDay: 9 } }, 1);
    const client = new Redis(redis.url);
    const keys = await client.keys(`gw:{${app}}:*`);
    expect(keys).toHaveLength(5);
    expect(keys.join('\n')).not.toContain('alice');
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(100_000);
    await client.quit();
  });

  function at(index: number): RequestLimits {
    const one = both[index];
    if (one === undefined) throw new Error(`no instance ${index}`);
    return one;
  }
});
