import { afterEach, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/clock.js';
import { Log } from '../../src/common/log/log.js';
import { Secret } from '../../src/common/log/secret.js';
import type { RedisClient } from '../../src/platform/redis/redis-client.js';
import { RedisConnection } from '../../src/platform/redis/redis-connection.js';
import { eventually } from '../support/eventually.js';
import { describeBreakingRedis, startRedis } from '../support/platform/redis.js';
import { MASTER_NAME, portOf, startRedisCluster, startWatchedRedis } from '../support/platform/redis-topologies.js';
import { startTcpProxy } from '../support/platform/tcp-proxy.js';

/** A command waits at most 250 ms; the rest is the overhead of fifty of them on two cores. */
const ANSWERED_MS = 1_000;
const AT_ONCE_MS = 1_000;
const NOTICED_MS = 2_500;
const BACK_MS = 5_000;
const PATIENCE_MS = 60_000;
const GIVEN_UP = { withinMs: 30_000 };

const ping = (client: RedisClient) => client.ping();
const countUp = (key: string) => (client: RedisClient) => client.incr(key);

let ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function connected(url: string): Promise<RedisConnection> {
  const clock = new SystemClock();
  const redis = new RedisConnection({ url: new Secret(url), clock, log: new Log(clock, 'error', () => undefined) });
  ends.push(() => redis.close());
  redis.open();
  await eventually(() => redis.state === 'ok', GIVEN_UP);
  return redis;
}

async function untilMs(redis: RedisConnection, state: 'ok' | 'lost'): Promise<number> {
  const startedMs = performance.now();
  await eventually(() => redis.state === state, GIVEN_UP);
  return performance.now() - startedMs;
}

async function answeredMs(redis: RedisConnection, question: (client: RedisClient) => Promise<unknown> = ping) {
  const startedMs = performance.now();
  await redis.run(question);
  return performance.now() - startedMs;
}

describeBreakingRedis('one Redis', () => {
  async function single() {
    const server = await startRedis();
    ends.push(() => server.stop());
    return { server, redis: await connected(server.url) };
  }

  it('frozen → the first commands wait 250 ms at most; unfrozen → back within 5 s', async () => {
    const { server, redis } = await single();
    server.freeze();
    const waits = await Promise.all(Array.from({ length: 50 }, () => answeredMs(redis)));
    expect(Math.max(...waits)).toBeLessThan(ANSWERED_MS);
    server.thaw();
    expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
  });

  it('frozen without commands → detected within 2 s', async () => {
    const { server, redis } = await single();
    server.freeze();
    expect(await untilMs(redis, 'lost')).toBeLessThan(NOTICED_MS);
  });

  it('killed → lost at once; started again → back within 5 s', async () => {
    const { server, redis } = await single();
    await server.kill();
    expect(await untilMs(redis, 'lost')).toBeLessThan(AT_ONCE_MS);
    await server.revive();
    expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
  });

  it('the network drops everything → a command waits 250 ms at most; it recovers → back within 5 s', async () => {
    const server = await startRedis();
    ends.push(() => server.stop());
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: portOf(server) });
    ends.push(() => proxy.close());
    const redis = await connected(`redis://127.0.0.1:${proxy.port}`);
    proxy.freeze();
    expect(await answeredMs(redis)).toBeLessThan(ANSWERED_MS);
    proxy.thaw();
    expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
  });
});

describeBreakingRedis('several Redis', () => {
  const callers = Array.from({ length: 50 }, (_, caller) => countUp(`gw:limit:caller-${caller}`));

  it(
    'a master of a cluster is frozen → lost within 2.5 s, its callers wait 250 ms at most; unfrozen → back within 5 s',
    async () => {
      // The others do not detect its loss that soon: they continue to serve their own keys.
      const { masters, hosts, isWhole, stop } = await startRedisCluster(['--cluster-node-timeout', '15000']);
      ends.push(stop);
      const redis = await connected(`redis+cluster://${hosts}`);
      for (const isAsked of [false, true]) {
        masters[1]?.freeze();
        const startedMs = performance.now();
        if (isAsked) await Promise.all(callers.map((caller) => redis.run(caller)));
        const waitedMs = performance.now() - startedMs;
        expect(await untilMs(redis, 'lost')).toBeLessThan(NOTICED_MS);
        masters[1]?.thaw();
        await eventually(isWhole, GIVEN_UP);
        expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
        expect(waitedMs).toBeLessThan(ANSWERED_MS);
      }
    },
    PATIENCE_MS,
  );

  it(
    'a master of a cluster is killed, its replica takes over → back within 5 s',
    async () => {
      const { masters, hosts, isInStep, hasTakenOver, isWhole, stop } = await startRedisCluster();
      ends.push(stop);
      const redis = await connected(`redis+cluster://${hosts}`);
      await eventually(isInStep, GIVEN_UP);
      await masters[0]?.kill();
      expect(await untilMs(redis, 'lost')).toBeLessThan(NOTICED_MS);
      await eventually(hasTakenOver, GIVEN_UP);
      await eventually(isWhole, GIVEN_UP);
      expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
    },
    PATIENCE_MS,
  );

  it(
    'the master behind sentinels is killed → the new one is found within 5 s of its election',
    async () => {
      const { master, replica, hosts, isInStep, masterPort, stop } = await startWatchedRedis();
      ends.push(stop);
      const redis = await connected(`redis+sentinel://${hosts}?name=${MASTER_NAME}`);
      await eventually(isInStep, GIVEN_UP);
      await master.kill();
      expect(await untilMs(redis, 'lost')).toBeLessThan(NOTICED_MS);
      await eventually(async () => (await masterPort()) === portOf(replica), GIVEN_UP);
      expect(await untilMs(redis, 'ok')).toBeLessThan(BACK_MS);
    },
    PATIENCE_MS,
  );
});
