import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SystemClock } from '../../../src/common/clock.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import type { RedisClient } from '../../../src/platform/redis/redis-client.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { eventually } from '../../support/eventually.js';
import { describeBreakingRedis, PATIENT_TIMEOUTS, startRedis, type TestRedis } from '../../support/platform/redis.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';

const PASSWORD = 'a password/of the tests';
const ping = (client: RedisClient) => client.ping();

describeBreakingRedis('Redis connection', () => {
  let server: TestRedis;
  let opened: RedisConnection[];
  let lines: { message: string; error?: string; lostMs?: number }[];

  beforeEach(() => {
    opened = [];
    lines = [];
  });
  afterEach(async () => {
    for (const redis of opened) redis.close();
    await server?.stop();
  });

  function open(url: string): RedisConnection {
    const clock = new SystemClock();
    const log = new Log(clock, 'debug', (line) => lines.push(JSON.parse(line)));
    const redis = new RedisConnection({ url: new Secret(url), clock, log, timeouts: PATIENT_TIMEOUTS });
    opened.push(redis);
    redis.open();
    return redis;
  }

  async function connected(): Promise<RedisConnection> {
    server = await startRedis();
    const redis = open(server.url);
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    return redis;
  }

  const messages = () => lines.map(({ message }) => message);

  it('connected → answers, state ok, nothing logged', async () => {
    const redis = await connected();
    expect(await redis.run(ping)).toBe('PONG');
    expect(lines).toEqual([]);
  });

  it('frozen → the first commands wait and get no answer, later ones do not wait; unfrozen → back', async () => {
    server = await startRedis();
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    const redis = open(`redis://127.0.0.1:${proxy.port}`);
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    server.freeze();
    const answers = await Promise.all(Array.from({ length: 50 }, () => redis.run(ping)));
    expect(answers).toEqual(Array(50).fill(undefined));
    expect(redis.state).toBe('lost');
    expect(redis.run(ping)).toBeUndefined();
    // Several attempts connect and are not answered; the third begins 2.7 seconds after the loss.
    const before = proxy.connections();
    await eventually(() => proxy.connections() >= before + 3, { withinMs: 20_000 });
    server.thaw();
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    expect(await redis.run(ping)).toBe('PONG');
    expect(messages()).toEqual(['redis_lost', 'redis_back']);
    expect(lines[1]?.lostMs).toBeGreaterThan(2_500);
    redis.close();
    await proxy.close();
  });

  it('frozen without commands → detected as well', async () => {
    const redis = await connected();
    server.freeze();
    await eventually(() => redis.state === 'lost', { withinMs: 20_000 });
  });

  it('killed → lost; started again → back; two outages → two pairs of log lines', async () => {
    const redis = await connected();
    for (let outage = 0; outage < 2; outage++) {
      await server.kill();
      await eventually(() => redis.state === 'lost', { withinMs: 20_000 });
      expect(redis.run(ping)).toBeUndefined();
      await server.revive();
      await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    }
    expect(messages()).toEqual(['redis_lost', 'redis_back', 'redis_lost', 'redis_back']);
  });

  it('unavailable at the start → lost; available later → back', async () => {
    server = await startRedis();
    await server.kill();
    const redis = open(server.url);
    await eventually(() => lines.length > 0, { withinMs: 20_000 });
    await server.revive();
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    expect(messages()).toEqual(['redis_lost', 'redis_back']);
  });

  it('the network drops everything → detected; back when the network recovers', async () => {
    server = await startRedis();
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    const redis = open(`redis://127.0.0.1:${proxy.port}`);
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    proxy.freeze();
    expect(await redis.run(ping)).toBeUndefined();
    proxy.thaw();
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    redis.close();
    await proxy.close();
  });

  it('it rejects writes because it is full → lost, even though it answers', async () => {
    server = await startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
    const redis = open(server.url);
    await eventually(() => lines.length > 0, { withinMs: 20_000 });
    expect(redis.state).toBe('lost');
    expect(lines[0]?.error).toContain('OOM');
  });

  it('a command that it refuses → no answer, and a new connection', async () => {
    const redis = await connected();
    expect(
      await redis.run((client) => client.incr('gw:probe').then(() => client.lpush('gw:probe', 1))),
    ).toBeUndefined();
    expect(lines[0]?.error).toContain('WRONGTYPE');
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
  });

  it('user, password and database in the address → used; the permissions in docs/operations.md → sufficient', async () => {
    const commands = ['+set', '+incr', '+pexpire', '+multi', '+exec', '+select'];
    server = await startRedis(['--requirepass', PASSWORD, '--user', 'gateway', 'on', '>secret', '~gw:*', ...commands]);
    const url = new URL(server.url);
    url.username = 'gateway';
    url.password = 'secret';
    url.pathname = '/3';
    const redis = open(url.href);
    await eventually(() => redis.state === 'ok', { withinMs: 20_000 });
    const counted = await redis.run((client) => client.multi().incr('gw:counter').pexpire('gw:counter', 1_000).exec());
    expect(counted).toEqual([
      [null, 1],
      [null, 1],
    ]);
    url.username = '';
    url.password = PASSWORD;
    const other = open(url.href);
    await eventually(() => other.state === 'ok', { withinMs: 20_000 });
    expect(await other.run((client) => client.get('gw:counter'))).toBe('1');
    expect(lines).toEqual([]);
  });

  it('a wrong password → lost, with the reason but not the password', async () => {
    server = await startRedis(['--requirepass', PASSWORD]);
    const url = new URL(server.url);
    url.password = 'another';
    const redis = open(url.href);
    await eventually(() => lines.length > 0, { withinMs: 20_000 });
    expect(redis.state).toBe('lost');
    expect(lines[0]?.error).toContain('WRONGPASS');
    expect(JSON.stringify(lines)).not.toContain('another');
  });

  it('this process was delayed for longer than the wait → an answer already in the socket counts', async () => {
    const redis = await connected();
    // From an immediate, due timers run before the socket is read.
    const answer = await new Promise((resolve) =>
      setImmediate(() => {
        const asked = redis.run(ping);
        const until = performance.now() + PATIENT_TIMEOUTS.commandMs + 150;
        while (performance.now() < until);
        resolve(asked);
      }),
    );
    expect(answer).toBe('PONG');
    expect(redis.state).toBe('ok');
  });

  it('closed → no answer, no attempt, no log line', async () => {
    const redis = await connected();
    redis.close();
    expect(await redis.run(ping)).toBeUndefined();
    await server.kill();
    // One that is opened now detects that the server is unavailable, and retries.
    const later: unknown[] = [];
    const clock = new SystemClock();
    const log = new Log(clock, 'debug', (line) => later.push(line));
    const other = new RedisConnection({ url: new Secret(server.url), clock, log, timeouts: PATIENT_TIMEOUTS });
    opened.push(other);
    other.open();
    await eventually(() => later.length > 0, { withinMs: 20_000 });
    expect(lines).toEqual([]);
  });
});
