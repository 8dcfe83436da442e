import { afterEach, expect, it } from '@jest/globals';
import type { RunningGateway } from '../../../../src/bootstrap/start.js';
import { RequestLimits } from '../../../../src/limits/requests/request-limits.service.js';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { aCall, burst, outcomeOf } from '../../../support/limits/requests/limited-calls.js';
import { startFurtherInstance } from '../../../support/platform/further-instance.js';
import { describeBreakingRedis, startRedis } from '../../../support/platform/redis.js';
import { startRedisCluster } from '../../../support/platform/redis-topologies.js';
import { startTcpProxy } from '../../../support/platform/tcp-proxy.js';
import { startWorld } from '../../../support/world.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const BACK = { withinMs: 20_000 };
const FAILED_OVER = { withinMs: 20_000 };
const PATIENCE_MS = 60_000;

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const limitsOf = ({ app }: RunningGateway) => app.get(RequestLimits);
const isDegraded = ({ app }: RunningGateway) => app.get(Metrics).limitsDegraded.read() === 1;

/** Two instances with the Redis at `redisUrl`; the second reaches the same database through a proxy. */
async function twoInstances(redisUrl: string) {
  const clock = new FakeClock(NOON);
  const world = await startWorld({ clock, env: { REDIS_URL: redisUrl } });
  ends.push(() => world.stop());
  const database = new URL(world.databaseUrl);
  const proxy = await startTcpProxy({ host: database.hostname, port: Number(database.port) });
  ends.push(() => proxy.close());
  database.host = `127.0.0.1:${proxy.port}`;
  const second = await startFurtherInstance(world, database.href, { clock });
  ends.push(() => second.stop());
  return { clock, world, proxy, first: world.gateway, second: second.gateway };
}

describeBreakingRedis('request limits while an instance cannot be heard', () => {
  it(
    'one instance loses Postgres, and all lose Redis → it counts nothing; the others start with the next minute; then it recovers',
    async () => {
      const redis = await startRedis();
      ends.push(() => redis.stop());
      const { clock, world, proxy, first, second } = await twoInstances(redis.url);
      const call = aCall('app-1', null, { app: { perMinute: 40, perDay: 1_000 } });
      expect((await burst(limitsOf(first), call, 10)).passed).toBe(10);
      expect((await burst(limitsOf(second), call, 10)).passed).toBe(10);
      proxy.freeze();
      await redis.kill();
      expect(await outcomeOf(limitsOf(second), call)).toBe('request_counts_unknown');
      await eventually(async () => (await outcomeOf(limitsOf(first), call)) !== 'request_counts_unknown', BACK);
      // The number of calls that the other one admitted in this minute is unknown.
      expect(await burst(limitsOf(first), call, 50)).toEqual({ passed: 0, refused: { app_minute_limit_reached: 50 } });
      clock.advance(MINUTE_MS);
      expect((await burst(limitsOf(first), call, 60)).passed).toBe(40);
      expect((await burst(limitsOf(second), call, 5)).passed).toBe(0);
      proxy.thaw();
      await eventually(async () => (await outcomeOf(limitsOf(second), call)) !== 'request_counts_unknown', BACK);
      expect((await burst(limitsOf(second), call, 60)).passed).toBe(0);
      clock.advance(MINUTE_MS);
      const shared = await Promise.all([first, second].map((one) => burst(limitsOf(one), call, 60)));
      expect(shared.map(({ passed }) => passed)).toEqual([20, 20]);
      await redis.revive();
      await eventually(() => !isDegraded(first) && !isDegraded(second), BACK);
      clock.advance(MINUTE_MS);
      const together = await Promise.all([first, second].map((one) => burst(limitsOf(one), call, 60)));
      expect(together.reduce((sum, { passed }) => sum + passed, 0)).toBe(40);
      const reasons = world.logs.filter(({ message }) => message === 'limits_degraded').map(({ reason }) => reason);
      // A busy machine misses renewals after the outage, so that the instance returns more than once.
      expect([...new Set(reasons)]).toEqual(['redis_lost', 'instance_returned']);
    },
    PATIENCE_MS,
  );

  it(
    'only one instance loses Postgres → limited calls get 503 there, and the others continue; then it recovers',
    async () => {
      const redis = await startRedis();
      ends.push(() => redis.stop());
      const { world, proxy, first, second } = await twoInstances(redis.url);
      const call = aCall('app-1', null, { app: { perMinute: 40 } });
      expect((await burst(limitsOf(second), call, 10)).passed).toBe(10);
      const elsewhere = aCall('app-2', null, { app: { perMinute: 1_000_000 } });
      proxy.freeze();
      await eventually(async () => (await outcomeOf(limitsOf(second), elsewhere)) === 'request_counts_unknown', BACK);
      const asked = () => proxy.swallowed().split('app-1').length;
      const before = asked();
      expect(await burst(limitsOf(second), call, 100)).toMatchObject({ refused: { request_counts_unknown: 100 } });
      // At once: none of them has queried Postgres.
      expect(asked()).toBe(before);
      expect((await burst(limitsOf(first), call, 60)).passed).toBe(30);
      proxy.thaw();
      await eventually(async () => (await outcomeOf(limitsOf(second), call)) === 'app_minute_limit_reached', BACK);
      expect(world.logs.filter(({ message }) => message === 'limits_degraded')).toEqual([]);
    },
    PATIENCE_MS,
  );
});

describeBreakingRedis('request limits with a Redis cluster', () => {
  it(
    'calls at once over two instances → exactly the limit; a master is lost → never above it; its replica takes over',
    async () => {
      const cluster = await startRedisCluster();
      ends.push(() => cluster.stop());
      const { clock, first, second } = await twoInstances(`redis+cluster://${cluster.hosts}`);
      const instances = [first, second];
      const apps = Array.from({ length: 12 }, (_, index) => `app-${index}`);
      const burstAtAll = async (calls: number) =>
        Promise.all(
          apps.map(async (app) => {
            const call = aCall(app, 'alice', { user: { perMinute: 10, perDay: 25 }, app: { perMinute: 10 } });
            const outcomes = await Promise.all(instances.map((one) => burst(limitsOf(one), call, calls)));
            return outcomes.reduce((sum, { passed }) => sum + passed, 0);
          }),
        );
      expect(await burstAtAll(20)).toEqual(apps.map(() => 10));
      clock.advance(MINUTE_MS);
      const before = await burstAtAll(2);
      expect(before).toEqual(apps.map(() => 4));
      await cluster.masters[0]?.kill();
      await eventually(() => instances.every(isDegraded), BACK);
      expect(await burstAtAll(20)).toEqual(apps.map(() => 6));
      await eventually(() => cluster.hasTakenOver(), FAILED_OVER);
      await eventually(() => !instances.some(isDegraded), FAILED_OVER);
      expect(await burstAtAll(20)).toEqual(apps.map(() => 0));
      clock.advance(MINUTE_MS);
      expect(await burstAtAll(20)).toEqual(apps.map(() => 5));
    },
    PATIENCE_MS,
  );
});
