import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { eventually } from '../../support/eventually.js';
import { LimitedApp } from '../../support/limits/requests/limited-app.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import type { Answer } from '../../support/proxy/proxy-client.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const PROGRAM = fileURLToPath(new URL('../../support/platform/shifted-gateway.mjs', import.meta.url));
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** So much of the minute, and of the day and month it is in, is left for a test that counts within it. */
const LEFT_MS = 20_000;

let directory: string;
const processes: GatewayProcess[] = [];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-clocks-'));
});

afterAll(async () => {
  for (const one of processes) await one.kill();
  rmSync(directory, { recursive: true, force: true });
});

/** A process of the world's service whose clock is wrong. */
async function startShifted(world: World, clockMs: number, jumpMs = 0): Promise<GatewayProcess> {
  const dataDir = mkdtempSync(join(directory, 'data-'));
  const started = new GatewayProcess(
    `http://127.0.0.1:${await freePort()}`,
    {
      ...world.environment,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      TEST_CLOCK_MS: String(clockMs),
      TEST_CLOCK_JUMP_MS: String(jumpMs),
    },
    PROGRAM,
  );
  processes.push(started);
  await started.start();
  return started;
}

/** The application, called through another process. */
function through(world: World, { client }: LimitedApp, { baseUrl }: Pick<GatewayProcess, 'baseUrl'>): LimitedApp {
  const { appId, key, slug, providerId } = client;
  const there = { ...world, baseUrl };
  return LimitedApp.of(there, new ProxyClient(there, appId, key, slug, providerId));
}

async function databaseNowMs({ databaseUrl }: World): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now');
  await client.end();
  return rows[0]?.now;
}

/** Waits for the next minute where this one is nearly over. The minutes are those of the database's own clock. */
async function earlyInMinute(world: World): Promise<void> {
  const leftMs = MINUTE_MS - ((await databaseNowMs(world)) % MINUTE_MS);
  if (leftMs < LEFT_MS) await sleep(leftMs + 50);
}

async function readiness({ baseUrl }: Pick<GatewayProcess, 'baseUrl'>) {
  const answer = await fetch(`${baseUrl}/v1/readyz`);
  const { clock } = (await answer.json()) as { clock: string };
  return [answer.status, clock];
}

async function aheadSeconds({ baseUrl }: Pick<GatewayProcess, 'baseUrl'>): Promise<number> {
  const page = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^gateway_clock_ahead_seconds (\S+)$/m.exec(page)?.[1]);
}

/** What a process has said of its clock, line by line. */
function told({ written }: GatewayProcess): [string, number][] {
  const lines = written.split('\n').filter((line) => line.includes('"clock_'));
  return lines.map((line) => JSON.parse(line)).map(({ message, aheadMs }) => [message, aheadMs]);
}

/** A call's answer, once the instance could tell: on a busy machine it may be out of touch for a moment. */
async function judged(app: LimitedApp): Promise<Answer> {
  let answer = await app.call();
  const couldTell = async () => {
    if (answer.status === 503) answer = await app.call();
    return answer.status !== 503;
  };
  await eventually(couldTell, { withinMs: 60_000 });
  return answer;
}

/**
 * Waits until as many instances have told the database twice that they live, and have compared their clocks with its.
 */
async function haveBeatenTwice({ databaseUrl }: World, instances: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (let beat = 0; beat < 2; beat++) {
    const { rows } = await client.query('SELECT clock_timestamp()::text AS now');
    const seen = () => client.query('SELECT FROM gateway_instances WHERE seen_at > $1', [rows[0]?.now]);
    await eventually(async () => (await seen()).rowCount === instances, { withinMs: 20_000 });
  }
  await client.end();
}

const statusOf = ({ status }: Answer) => status;
const served = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200).length;

describeWithRedis('five instances whose clocks differ, up to another month', () => {
  const shifts = [45_000, -HOUR_MS, DAY_MS, -32 * DAY_MS];
  let world: World;
  let redis: Awaited<ReturnType<typeof reachRedis>>;
  let shifted: GatewayProcess[];

  beforeAll(async () => {
    redis = await reachRedis();
    world = await startWorld({ env: { REDIS_URL: redis.url } });
    shifted = await Promise.all(shifts.map((shift) => startShifted(world, shift)));
  }, 300_000);

  afterAll(async () => {
    for (const one of shifted ?? []) await one.stop();
    await world?.stop();
    await redis?.stop();
  });

  /** The same application at each of the five. */
  async function appAtAll(limits: Record<string, unknown>): Promise<LimitedApp[]> {
    const app = await LimitedApp.create(world, limits);
    return [app, ...shifted.map((one) => through(world, app, one))];
  }

  it.each(['per_minute', 'per_day'])(
    '%s → exactly as many calls as allowed, in total; all name the same end',
    async (kind) => {
      const limits = { per_app: { requests: { per_minute: null, per_day: null, [kind]: 13 } } };
      const apps = await appAtAll(limits);
      await earlyInMinute(world);
      const answers: Answer[] = [];
      for (let round = 0; round < 4; round++) answers.push(...(await Promise.all(apps.map(judged))));
      expect(served(answers)).toBe(13);
      const windowMs = kind === 'per_minute' ? MINUTE_MS : DAY_MS;
      const leftSeconds = async () => (windowMs - ((await databaseNowMs(world)) % windowMs)) / 1000;
      const leftBefore = await leftSeconds();
      const refusals = await Promise.all(apps.map((app) => app.refused()));
      const leftAfter = await leftSeconds();
      for (const { code, retryAfter } of refusals) {
        expect(code).toBe('app_rate_limited');
        expect(retryAfter - leftAfter).toBeGreaterThanOrEqual(0);
        expect(retryAfter - leftBefore).toBeLessThan(5);
      }
    },
    180_000,
  );

  it('a budget of a month → exceeded by at most one call, in total; only the month of the events is charged', async () => {
    // Each call costs 0.006 dollars.
    const apps = await appAtAll({ per_app: { spending: { monthly_usd: 0.05 } } });
    const answers: Answer[] = [];
    const begunMs = await databaseNowMs(world);
    const round = async () => {
      for (const app of apps) answers.push(await app.call());
      return served(answers) >= 9;
    };
    await eventually(round, { withinMs: 60_000 });
    for (let more = 0; more < 10; more++) await round();
    expect(served(answers)).toBe(9);
    const [{ client }] = apps as [LimitedApp];
    await eventually(async () => (await client.events(9, '&status=ok')).length === 9, { withinMs: 20_000 });
    const months = await world.dataSource.query(
      "SELECT to_char(period_start, 'YYYY-MM') AS month, spent_nano_usd::float8 AS spent FROM budget_periods WHERE app_id = $1 AND scope = 'app' AND window_name = 'month'",
      [client.appId],
    );
    const nowMs = await databaseNowMs(world);
    expect(months).toEqual([{ month: new Date(nowMs).toISOString().slice(0, 7), spent: 54_000_000 }]);
    const events = await world.dataSource.query(
      'SELECT (extract(epoch FROM created_at) * 1000)::float8 AS at FROM usage_events WHERE app_id = $1',
      [client.appId],
    );
    expect(events.length).toBeGreaterThanOrEqual(9);
    for (const { at } of events) expect([at > begunMs - 1_000, at < nowMs + 1_000]).toEqual([true, true]);
  }, 180_000);

  it('readyz, metrics and log of each instance → report its clock offset, once; all are ready', async () => {
    await haveBeatenTwice(world, 1 + shifted.length);
    expect(await readiness(world)).toEqual([200, 'ok']);
    expect(Math.abs(await aheadSeconds(world))).toBeLessThan(0.5);
    for (const [at, one] of shifted.entries()) {
      const shift = shifts[at] ?? 0;
      expect(await readiness(one)).toEqual([200, 'differs']);
      expect(Math.abs((await aheadSeconds(one)) - shift / 1000)).toBeLessThan(0.5);
      expect(told(one)).toEqual([['clock_differs', expect.any(Number)]]);
      expect(Math.abs((told(one)[0]?.[1] ?? 0) - shift)).toBeLessThan(500);
    }
  });
});

describe('one instance without Redis', () => {
  const jumps = [HOUR_MS, -HOUR_MS];
  let world: World;
  let ofDay: LimitedApp;
  let ofMinute: Map<number, LimitedApp>;
  let running: GatewayProcess;

  /** The world's own instance makes the applications and goes: the processes serve alone. */
  beforeAll(async () => {
    world = await startWorld({ env: { REDIS_URL: '' } });
    const limited = (requests: object) => LimitedApp.create(world, { per_app: { requests } });
    ofDay = await limited({ per_minute: null, per_day: 5 });
    ofMinute = new Map();
    for (const jump of jumps) ofMinute.set(jump, await limited({ per_minute: 12, per_day: null }));
    await world.gateway.stop('test');
  });

  afterAll(() => world?.stop());

  async function restart(app: LimitedApp | undefined, clockMs: number, jumpMs = 0): Promise<LimitedApp> {
    if (app === undefined) throw new Error('no application');
    await running?.stop();
    running = await startShifted(world, clockMs, jumpMs);
    return through(world, app, running);
  }

  afterEach(async () => {
    await running?.stop();
  });

  it('restarted with another wrong clock → the day continues, and ends with the day of the database', async () => {
    const first = await restart(ofDay, -DAY_MS);
    expect(await first.calls(3)).toEqual([200, 200, 200]);
    const second = await restart(ofDay, HOUR_MS);
    expect(await second.calls(2)).toEqual([200, 200]);
    const leftSeconds = async () => (DAY_MS - ((await databaseNowMs(world)) % DAY_MS)) / 1000;
    const leftBefore = await leftSeconds();
    const { code, retryAfter } = await second.refused();
    const leftAfter = await leftSeconds();
    expect(code).toBe('app_rate_limited');
    expect([retryAfter > leftAfter - 2, retryAfter < leftBefore + 2]).toEqual([true, true]);
  }, 180_000);

  it.each(jumps)(
    'the clock jumps by %i ms between calls → all are served, and counted in one minute',
    async (jump) => {
      const jumping = await restart(ofMinute.get(jump), 0, jump);
      await earlyInMinute(world);
      expect(await jumping.calls(4)).toEqual([200, 200, 200, 200]);
      running.signal('SIGUSR2');
      const statuses = (await Promise.all(Array.from({ length: 12 }, () => jumping.call()))).map(statusOf);
      expect(statuses.toSorted()).toEqual([...Array(8).fill(200), ...Array(4).fill(429)]);
      await eventually(async () => (await readiness(running))[1] === 'differs', { withinMs: 20_000 });
      await haveBeatenTwice(world, 1);
      expect(told(running)).toEqual([['clock_differs', expect.any(Number)]]);
      expect(Math.abs((told(running)[0]?.[1] ?? 0) - jump)).toBeLessThan(500);
    },
    180_000,
  );
});
