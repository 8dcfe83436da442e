import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { CounterLedgerRepository } from '../../../../src/commands/ledger/counter-ledger.repository.js';
import { CounterLedger } from '../../../../src/commands/ledger/counter-ledger.service.js';
import { counterNamespace, dayCounterKey } from '../../../../src/limits/requests/backends/counter-keys.rules.js';
import { CounterReader } from '../../../../src/limits/requests/backends/counter-reader.js';
import { LimitEpochsRepository } from '../../../../src/limits/requests/epochs/limit-epochs.repository.js';
import { UsageJournal } from '../../../../src/platform/journal/usage-journal.js';
import { RedisConnection } from '../../../../src/platform/redis/redis-connection.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { LimitedApp } from '../../../support/limits/requests/limited-app.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { programEnvironment } from '../../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../../support/platform/redis.js';
import { RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { event, hold, json, resetBeforeAnswer } from '../../../support/proxy/upstream-scripts.js';
import { seeded } from '../../../support/seeded.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const PROGRAM = fileURLToPath(new URL('../../../../dist/src/commands/verify-ledger.js', import.meta.url));
const DAY_MS = 86_400_000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const TODAY = new Date(TODAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
const LIMITS = {
  per_user: { requests: { per_minute: null, per_day: 30 } },
  per_app: { requests: { per_minute: null, per_day: 200 } },
};
const USERS = ['ann', 'ben', 'cleo', 'dörte'];
const SETTLED = { withinMs: 10_000 };
const SEEDS = Number(process.env.FUZZ_RUNS ?? 4);

describeWithRedis('ledger of request counters', () => {
  const clock = new FakeClock();
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let client: Redis;
  let world: World;
  let second: FurtherInstance;
  let app: LimitedApp;
  let there: LimitedApp;

  beforeAll(async () => {
    redis = await reachRedis();
    client = new Redis(redis.url);
    const env = { REDIS_URL: redis.url, PROVIDER_MAX_CONNECTIONS: '3' };
    world = await startWorld({ clock, env });
    second = await startFurtherInstance(world, undefined, { clock });
  });

  beforeEach(async () => {
    await world.dataSource.query('DELETE FROM limit_counts');
    app = await LimitedApp.create(world, LIMITS);
    const { appId, key, slug, providerId } = app.client;
    const other = { ...world, baseUrl: second.baseUrl };
    there = LimitedApp.of(other, new ProxyClient(other, appId, key, slug, providerId));
  });

  afterAll(async () => {
    await second?.stop();
    await world?.stop();
    await client?.quit();
    await redis?.stop();
  });

  const both = () => [world.gateway, second.gateway];

  function verify(settleMs = 0) {
    const counters = new CounterReader(
      new LimitEpochsRepository(world.dataSource),
      world.gateway.app.get(RedisConnection),
    );
    const journals = join(world.dataDir, 'journal');
    return new CounterLedger(new CounterLedgerRepository(world.dataSource), counters, {
      ...{ clock, journals, settleMs },
    }).verify();
  }

  async function keyOf(userId: string): Promise<string> {
    const namespace = counterNamespace(await new LimitEpochsRepository(world.dataSource).read(''));
    return dayCounterKey(namespace, app.client.appId, userId, TODAY_MS);
  }

  /** Every event is stored, and every instance is notified. */
  async function quiet(): Promise<void> {
    const isStored = () =>
      both().every((one) => {
        const journal = one.app.get(UsageJournal);
        return journal.openAdmissions + journal.pending === 0;
      });
    await eventually(isStored, SETTLED);
    const told = () => world.dataSource.query('SELECT FROM gateway_instances WHERE open_calls IS DISTINCT FROM 0');
    await eventually(async () => (await told()).length === 0, SETTLED);
  }

  const found = (table: string, userId: string, stored: string, recomputed: string) => ({
    ...{ organizationId: expect.any(String), appId: app.client.appId, table, column: 'requests' },
    ...{ key: { user_id: userId, day: TODAY }, stored, recomputed },
  });

  it.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
    'any history, seed %i → no difference during and after the calls',
    async (seed) => {
      const random = seeded(seed);
      const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
      const running: Promise<unknown>[] = [];
      const leave = () => {
        const { request, head } = pick([app, there]).open(pick(USERS));
        head.catch(() => undefined);
        setTimeout(() => request.destroy(), random() * 4);
      };
      const forget = async () => {
        const keys = await client.keys(`gw:{${app.client.appId}}:*`);
        if (keys.length > 0) await client.del(keys);
      };
      for (let step = 0; step < 80; step++) {
        const kind = random();
        if (kind < 0.04) await forget();
        else if (kind < 0.08) world.upstream.script(resetBeforeAnswer());
        else if (kind < 0.16) leave();
        else if (kind < 0.18) expect(await verify(5_000)).toMatchObject({ findings: [], unproven: [] });
        else
          running.push(
            pick([app, there])
              .call(pick(USERS))
              .catch(() => undefined),
          );
        if (random() < 0.3) await Promise.all(running);
        world.upstream.script(json(200, RESPONSE));
      }
      await Promise.all(running);
      await quiet();
      expect(await verify(5_000)).toEqual({ countedIn: 'redis', findings: [], unproven: [] });
    },
    120_000,
  );

  it('a counter one too high or too low, of the application or a user → named, with both numbers', async () => {
    for (const user of ['ann', 'ann', 'ben', 'ann']) expect((await app.call(user)).status).toBe(200);
    await quiet();
    expect((await verify()).findings).toEqual([]);
    for (const [user, calls] of [
      ['', 4],
      ['ann', 3],
      ['ben', 1],
    ] as const) {
      const key = await keyOf(user);
      expect(await client.incr(key)).toBe(calls + 1);
      expect((await verify()).findings).toEqual([found('request_counters', user, `${calls + 1}`, `${calls}`)]);
      await client.decrby(key, 2);
      expect((await verify()).findings).toEqual([found('request_counters', user, `${calls - 1}`, `${calls}`)]);
      await client.incr(key);
    }
    expect((await verify()).findings).toEqual([]);
  });

  it('stored counts in Postgres one above all counted requests → found; one below → accepted as the initial count', async () => {
    await storeEvents(world.dataSource, { ...(await account()), user_id: 'ann', created_at_ms: clock.nowMs() });
    expect((await app.call('ann')).status).toBe(200);
    await quiet();
    const kept = () => world.dataSource.query('SELECT requests FROM limit_counts WHERE user_id = $1', ['ann']);
    expect(await kept()).toEqual([{ requests: '1' }]);
    expect((await verify()).findings).toEqual([]);
    await world.dataSource.query("UPDATE limit_counts SET requests = 3 WHERE user_id = 'ann'");
    expect((await verify()).findings).toEqual([found('limit_counts', 'ann', '3', '2')]);
  });

  it('calls are open, here and on another instance → no difference; after they end → still none', async () => {
    const held = [hold(event({ type: 'response.created' })), hold(event({ type: 'response.created' }))];
    const calls = [];
    for (const [at, one] of [app, there].entries()) {
      world.upstream.script((held[at] as (typeof held)[number]).script);
      const call = one.open('ann');
      await once(await call.head, 'data');
      calls.push(call);
    }
    expect(await client.get(await keyOf('ann'))).toBe('2');
    await eventually(async () => (await verify()).findings.length === 0, SETTLED);
    await client.incr(await keyOf('ann'));
    expect((await verify()).findings).toEqual([found('request_counters', 'ann', '3', '1')]);
    await client.decr(await keyOf('ann'));
    for (const { request } of calls) request.destroy();
    for (const one of held) one.release();
    await quiet();
    expect((await verify()).findings).toEqual([]);
  });

  it('counted but never sent → recorded, and no difference', async () => {
    const held = [1, 2, 3].map(() => hold(event({ type: 'response.created' })));
    const calls = [];
    for (const one of held) {
      world.upstream.script(one.script);
      const call = app.open('ann');
      await once(await call.head, 'data');
      calls.push(call);
    }
    expect((await app.call('ann')).status).toBe(503);
    expect(await client.get(await keyOf('ann'))).toBe('4');
    await eventually(async () => (await verify()).findings.length === 0, SETTLED);
    const noted = 'SELECT user_id, requests FROM limit_unsent WHERE app_id = $1 ORDER BY user_id';
    expect(await world.dataSource.query(noted, [app.client.appId])).toEqual([
      { user_id: '', requests: '1' },
      { user_id: 'ann', requests: '1' },
    ]);
    for (const { request } of calls) request.destroy();
    for (const one of held) one.release();
  });

  it('a limit is enabled in the middle of the day → counts from the recorded requests; no difference before and after', async () => {
    await app.limit({});
    for (let call = 0; call < 3; call++) await app.call('ann');
    await quiet();
    await app.limit(LIMITS);
    expect((await verify()).findings).toEqual([]);
    await app.call('ann');
    await quiet();
    expect(await client.get(await keyOf('ann'))).toBe('4');
    expect((await verify()).findings).toEqual([]);
  });

  it('a limit is enabled while a call runs → that call is not counted, and no difference', async () => {
    await app.limit({});
    const held = hold(event({ type: 'response.created' }));
    world.upstream.script(held.script);
    const running = app.open('ann');
    await once(await running.head, 'data');
    clock.advance(Math.max(1, Date.now() - clock.nowMs()));
    world.upstream.script(json(200, RESPONSE));
    await app.limit(LIMITS);
    clock.advance(Math.max(1, Date.now() - clock.nowMs()));
    await app.call('ann');
    held.release();
    running.request.destroy();
    await quiet();
    expect(await client.get(await keyOf('ann'))).toBe('1');
    expect((await verify()).findings).toEqual([]);
    await client.decr(await keyOf('ann'));
    expect((await verify()).findings).toEqual([found('request_counters', 'ann', '0', '2')]);
    await client.incr(await keyOf('ann'));
  });

  it('an instance was killed → a higher count is reported, but but not as a difference; a lower one is a difference', async () => {
    await app.call('ann');
    await quiet();
    await world.dataSource.query(
      `INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis, seen_at)
       VALUES ('gone', 'elsewhere', 1, '1', true, now() - interval '1 hour')`,
    );
    await client.incr(await keyOf('ann'));
    expect(await verify()).toMatchObject({
      findings: [],
      unproven: [found('request_counters', 'ann', '2', '1')],
    });
    await client.set(await keyOf('ann'), '0');
    expect((await verify()).findings).toEqual([found('request_counters', 'ann', '0', '1')]);
    await client.set(await keyOf('ann'), '1');
    await world.dataSource.query("DELETE FROM gateway_instances WHERE id = 'gone'");
  });

  it('npm run verify-ledger: a counter is too low → exit code 1, as text and as JSON; Redis cannot be reached → 2', async () => {
    await app.call('ann');
    await quiet();
    const key = await keyOf('ann');
    await client.set(key, '0');
    const bad = await run();
    expect(bad).toMatchObject({ code: 1, err: '' });
    const where = `${app.client.appId} request_counters user_id="ann" day="${TODAY}"`;
    expect(bad.out).toContain(`${where}: requests stored 0, recomputed 1\n`);
    const program = await run({}, '--json');
    expect(program.code).toBe(1);
    expect(JSON.parse(program.out)).toMatchObject({
      ...{ ok: false, requests_counted_in: 'redis', unproven: [] },
      differences: [{ app_id: app.client.appId, table: 'request_counters', stored: '0', recomputed: '1' }],
    });
    await client.set(key, '1');
    expect(await run()).toMatchObject({ code: 0, out: expect.stringContaining('counted in Redis') });
    const away = await run({ REDIS_URL: 'redis://127.0.0.1:1' });
    expect(away).toMatchObject({ code: 2, err: expect.stringContaining('Redis does not answer') });
  }, 60_000);

  async function account(): Promise<{ organization_id: string; app_id: string }> {
    const id = app.client.appId;
    const rows = await world.dataSource.query('SELECT organization_id FROM apps WHERE id = $1', [id]);
    return { organization_id: rows[0].organization_id, app_id: id };
  }

  function run(
    settings: Record<string, string> = {},
    ...args: string[]
  ): Promise<{ code: unknown; out: string; err: string }> {
    const env = programEnvironment({ ...world.environment, ...settings });
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], { env }, (error, out, err) => {
        resolve({ code: error === null ? 0 : error.code, out, err });
      });
    });
  }
});
