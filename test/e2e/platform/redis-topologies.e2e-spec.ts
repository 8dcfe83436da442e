import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SystemClock } from '../../../src/common/clock.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import type { RedisClient } from '../../../src/platform/redis/redis-client.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { eventually } from '../../support/eventually.js';
import { describeBreakingRedis, PATIENT_TIMEOUTS } from '../../support/platform/redis.js';
import {
  MASTER_NAME,
  portOf,
  startRedisCluster,
  startWatchedRedis,
  type TestCluster,
  type WatchedRedis,
} from '../../support/platform/redis-topologies.js';

const PASSWORD = 'a-password-of-the-tests';
const CALLERS = 50;
const NOTICED = { withinMs: 20_000 };
const BACK = { withinMs: 20_000 };
/** A server counts as lost after a second; then the others have to agree on the next one. */
const FAILED_OVER = { withinMs: 20_000 };
const PATIENCE_MS = 60_000;

let ends: (() => unknown)[];
let lines: { message: string; error?: string }[];

beforeEach(() => {
  ends = [];
  lines = [];
});

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  expect(JSON.stringify(lines)).not.toContain(PASSWORD);
});

function open(url: string): RedisConnection {
  const clock = new SystemClock();
  const log = new Log(clock, 'debug', (line) => lines.push(JSON.parse(line)));
  const redis = new RedisConnection({ url: new Secret(url), clock, log, timeouts: PATIENT_TIMEOUTS });
  ends.push(() => redis.close());
  redis.open();
  return redis;
}

async function connected(url: string): Promise<RedisConnection> {
  const redis = open(url);
  await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
  return redis;
}

const messages = () => lines.map(({ message }) => message);

/** How the address limits count. */
const countUp = (key: string) => async (client: RedisClient) => {
  const [counted] = (await client.multi().incr(key).pexpire(key, 60_000).exec()) ?? [];
  return counted?.[1];
};

/** How the request limits count: a script over the keys of one application. */
const countByScript = (app: string) => (client: RedisClient) =>
  client.eval("return redis.call('INCR', KEYS[1]) + redis.call('INCR', KEYS[2])", 2, `gw:{${app}}:a`, `gw:{${app}}:b`);

const callers = Array.from({ length: CALLERS }, (_, caller) => `caller-${caller}`);

describeBreakingRedis('Redis cluster', () => {
  async function started(options: readonly string[] = []): Promise<TestCluster> {
    const cluster = await startRedisCluster(options);
    ends.push(() => cluster.stop());
    return cluster;
  }

  it(
    'keys on every master → counted, in transactions and scripts; naming one server is enough',
    async () => {
      const { masters, hosts } = await started();
      const redis = await connected(`redis+cluster://127.0.0.1:1,${hosts.split(',')[1]}`);
      for (const expected of [1, 2]) {
        const counts = await Promise.all(callers.map((caller) => redis.run(countUp(`gw:limit:${caller}`))));
        expect(counts).toEqual(Array(CALLERS).fill(expected));
        const sums = await Promise.all(callers.map((app) => redis.run(countByScript(app))));
        expect(sums).toEqual(Array(CALLERS).fill(2 * expected));
      }
      const sizes = await Promise.all(
        masters.map(async (master) => (await redis.run((client) => sizeOf(client, portOf(master)))) ?? 0),
      );
      expect(sizes.filter((size) => size > 0)).toHaveLength(3);
      expect(lines).toEqual([]);
    },
    PATIENCE_MS,
  );

  async function sizeOf(client: RedisClient, port: number): Promise<number> {
    const nodes = 'nodes' in client ? client.nodes('master') : [];
    return nodes.find(({ options }) => options.port === port)?.dbsize() ?? 0;
  }

  it(
    'a frozen master without commands → lost; unfrozen → back',
    async () => {
      // The others do not detect its loss that soon: they continue to serve their own keys.
      const { masters, hosts, isWhole } = await started(['--cluster-node-timeout', '15000']);
      const redis = await connected(`redis+cluster://${hosts}`);
      for (const master of masters.slice(1)) {
        master.freeze();
        await eventually(() => redis.state === 'lost', NOTICED);
        master.thaw();
        await eventually(isWhole, FAILED_OVER);
        await eventually(() => redis.state === 'ok', BACK);
      }
      // A server that returns may be reported lost once more while the others accept it again.
      expect(messages().join(' ')).toMatch(/^redis_lost redis_back( redis_lost redis_back)+$/);
    },
    PATIENCE_MS,
  );

  it(
    'a frozen master while calls count → no answer, and then not called; keys of the other masters get no answer either',
    async () => {
      const { masters, hosts } = await started();
      const redis = await connected(`redis+cluster://${hosts}`);
      masters[1]?.freeze();
      const counts = await Promise.all(callers.map((caller) => redis.run(countUp(`gw:limit:${caller}`))));
      expect(counts.filter((count) => count === undefined).length).toBeGreaterThan(0);
      expect(redis.state).toBe('lost');
      expect(redis.run(countUp('gw:limit:late'))).toBeUndefined();
      masters[1]?.thaw();
    },
    PATIENCE_MS,
  );

  it(
    'a master is killed, its replica takes over → back, with its counts',
    async () => {
      const { masters, hosts, isInStep, hasTakenOver, isWhole } = await started();
      const redis = await connected(`redis+cluster://${hosts}`);
      await Promise.all(callers.map((caller) => redis.run(countUp(`gw:limit:${caller}`))));
      await eventually(isInStep, BACK);
      await masters[0]?.kill();
      await eventually(() => redis.state === 'lost', NOTICED);
      await eventually(hasTakenOver, FAILED_OVER);
      await eventually(isWhole, FAILED_OVER);
      await eventually(() => redis.state === 'ok', BACK);
      const counts = await Promise.all(callers.map((caller) => redis.run(countUp(`gw:limit:${caller}`))));
      expect(counts).toEqual(Array(CALLERS).fill(2));
    },
    PATIENCE_MS,
  );

  it(
    'a password → used for every server; a wrong one → lost, with the reason but not the password',
    async () => {
      const { hosts } = await started(['--requirepass', PASSWORD, '--masterauth', PASSWORD]);
      const redis = await connected(`redis+cluster://:${PASSWORD}@${hosts}`);
      expect(await redis.run(countUp('gw:limit:a'))).toBe(1);
      expect(lines).toEqual([]);
      const other = open(`redis+cluster://:not-the-${PASSWORD.slice(2)}@${hosts}`);
      await eventually(() => lines.length > 0, { withinMs: 20_000 });
      expect(other.state).toBe('lost');
      expect(lines[0]?.error).toContain('WRONGPASS');
      expect(JSON.stringify(lines)).not.toContain(PASSWORD.slice(2));
    },
    PATIENCE_MS,
  );
});

describeBreakingRedis('Redis behind sentinels', () => {
  async function started(password?: string): Promise<WatchedRedis> {
    const watched = await startWatchedRedis(password);
    ends.push(() => watched.stop());
    return watched;
  }

  it(
    'the master is killed → the new one is found',
    async () => {
      const { master, replica, hosts, isInStep, masterPort } = await started();
      const redis = await connected(`redis+sentinel://${hosts}/2?name=${MASTER_NAME}`);
      expect(await redis.run(countUp('gw:limit:a'))).toBe(1);
      await eventually(isInStep, BACK);
      await master.kill();
      await eventually(() => redis.state === 'lost', NOTICED);
      await eventually(async () => (await masterPort()) === portOf(replica), FAILED_OVER);
      await eventually(() => redis.state === 'ok', BACK);
      expect(await redis.run(countUp('gw:limit:a'))).toBe(2);
      expect(lines).toMatchObject([{ message: 'redis_lost' }, { message: 'redis_back' }]);
    },
    PATIENCE_MS,
  );

  it(
    'dead or frozen sentinels → the others are queried',
    async () => {
      const { sentinels, hosts } = await started();
      await sentinels[0]?.kill();
      sentinels[1]?.freeze();
      const redis = await connected(`redis+sentinel://${hosts}?name=${MASTER_NAME}`);
      expect(await redis.run(countUp('gw:limit:a'))).toBe(1);
      sentinels[1]?.thaw();
    },
    PATIENCE_MS,
  );

  it(
    'a password of the sentinels → used only for them',
    async () => {
      const { hosts } = await started(PASSWORD);
      await connected(`redis+sentinel://${hosts}?name=${MASTER_NAME}&sentinelPassword=${PASSWORD}`);
      expect(lines).toEqual([]);
      open(`redis+sentinel://${hosts}?name=${MASTER_NAME}`);
      await eventually(() => lines.length > 0, { withinMs: 20_000 });
      expect(lines[0]?.error).toContain('NOAUTH');
    },
    PATIENCE_MS,
  );

  it(
    'a name unknown to the sentinels → lost, and says so',
    async () => {
      const { hosts } = await started();
      const redis = open(`redis+sentinel://${hosts}?name=unknown`);
      await eventually(() => lines.length > 0, { withinMs: 20_000 });
      expect([redis.state, lines[0]?.error]).toEqual(['lost', expect.stringContaining('sentinel')]);
    },
    PATIENCE_MS,
  );
});
