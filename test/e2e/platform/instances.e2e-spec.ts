import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startGateway } from '../../../src/bootstrap/start.js';
import { Secret } from '../../../src/common/log/secret.js';
import { EnvironmentError } from '../../../src/platform/config/environment.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { InstanceRegistry } from '../../../src/platform/instances/instance-registry.js';
import { InstancesRepository } from '../../../src/platform/instances/instances.repository.js';
import { ownProcess } from '../../../src/platform/instances/own-process.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

/** The number of heartbeats of an instance in ten seconds. */
const MOST_BEATS = 14;
const EXPIRED = "SELECT 1 FROM gateway_instances WHERE seen_at < now() - interval '3 seconds'";
/** No server listens there: it only matters that it is set. */
const NO_REDIS = 'redis://127.0.0.1:1';
/** Sends the heartbeat of an instance while another one starts, which takes longer than a lease on a busy machine. */
const SEEN_LATER = "UPDATE gateway_instances SET seen_at = now() + interval '2 seconds'";

/** An instance of the suite. */
interface Running {
  readonly url: string;
  readonly registry: InstanceRegistry;
  readonly logs: Record<string, unknown>[];
  stop(): Promise<void>;
}

interface StartSettings {
  readonly redis?: string;
  readonly databaseUrl?: string;
  readonly clock?: FakeClock;
}

let databaseUrl: string;
let directory: string;
let ends: (() => Promise<unknown>)[];
let directories = 0;
const managementKey = newManagementKey();

beforeEach(async () => {
  databaseUrl = await freshDatabase();
  directory = mkdtempSync(join(tmpdir(), 'gateway-instances-'));
  ends = [];
});

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  await dropDatabase(databaseUrl);
  rmSync(directory, { recursive: true, force: true });
});

function environmentOf({ redis = '', databaseUrl: url = databaseUrl }: StartSettings): Record<string, string> {
  return { ...testEnvironment(url, join(directory, String(++directories)), managementKey), REDIS_URL: redis };
}

async function start(settings: StartSettings = {}): Promise<Running> {
  const logs: Record<string, unknown>[] = [];
  const log = (line: string) => void logs.push(JSON.parse(line));
  const { clock } = settings;
  const gateway = await startGateway(environmentOf(settings), { log, ...(clock && { clock }) });
  const stop = () => gateway.stop('test');
  ends.push(stop);
  return { url: gateway.url, registry: gateway.app.get(InstanceRegistry), logs, stop };
}

/** Why a start was refused. */
async function refused(settings: StartSettings = {}): Promise<unknown> {
  return start(settings).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

async function query<T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<T>(sql, values);
  await client.end();
  return rows;
}

const entries = () => query<{ id: string }>('SELECT id FROM gateway_instances ORDER BY id');

const names = ({ logs }: Running) => logs.map(({ message }) => message);

/** An instance on another machine, as registered by itself. */
async function enterStranger(usesRedis: boolean, host = 'elsewhere', pid = 77): Promise<void> {
  await query(
    "INSERT INTO gateway_instances (id, host, pid, process_started, uses_redis) VALUES ('stranger', $1, $2, 'x/1', $3)",
    [host, pid, usesRedis],
  );
}

describe('a second instance without Redis', () => {
  it('besides a running instance → refused, with who, why and what to do; the first continues', async () => {
    const first = await start();
    let beats = 0;
    const stopCounting = first.registry.onHeartbeat(() => beats++);
    const error = await refused();
    stopCounting();
    expect(error).toBeInstanceOf(EnvironmentError);
    const { message } = error as EnvironmentError;
    expect(message).toContain(`REDIS_URL is not set, and process ${process.pid} on ${hostname()} serves`);
    expect(message).toContain('set REDIS_URL on every one, to the same Redis, or stop that one');
    expect(beats).toBeLessThanOrEqual(MOST_BEATS);
    expect(await entries()).toEqual([{ id: first.registry.id }]);
    expect([first.registry.isAlone, first.registry.isConfirmed]).toEqual([true, true]);
    await first.stop();
    await start();
  });

  it.each([
    ['the first has none', '', NO_REDIS, 'REDIS_URL is set, but process'],
    ['the second has none', NO_REDIS, '', 'REDIS_URL is not set, and process'],
  ])('%s → refused', async (_name, first, second, message) => {
    await start({ redis: first });
    expect(String(await refused({ redis: second }))).toContain(message);
  });

  it('four at once → exactly one starts', async () => {
    const outcomes = await Promise.allSettled([start(), start(), start(), start()]);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refusals.map(String)).toEqual(Array(3).fill(expect.stringContaining('REDIS_URL is not set')));
    expect(await entries()).toHaveLength(1);
  }, 60_000);

  it('twenty entries at the same instant → exactly one is made', async () => {
    const options = {
      url: new Secret(databaseUrl),
      poolSize: 20,
      applicationName: 'test',
      entities: [],
      migrations: [],
    };
    const dataSource = await createDataSource(options).initialize();
    ends.push(() => dataSource.destroy());
    // Connected beforehand, so that they really run concurrently.
    const runners = Array.from({ length: 20 }, () => dataSource.createQueryRunner());
    await Promise.all(runners.map((runner) => runner.connect()));
    await Promise.all(runners.map((runner) => runner.release()));
    const instances = new InstancesRepository(dataSource);
    const conflicting = await Promise.all(
      Array.from({ length: 20 }, (_, id) =>
        instances.acquire({
          id: `instance-${id}`,
          process: ownProcess(),
          usesRedis: false,
          redisMark: null,
          internalUrl: null,
        }),
      ),
    );
    expect(conflicting.filter(({ length }) => length === 0)).toHaveLength(1);
    expect(await entries()).toHaveLength(1);
  });

  it('a clock that stands still → refused as well', async () => {
    const clock = new FakeClock();
    await start({ clock });
    expect(String(await refused({ clock }))).toContain('REDIS_URL is not set');
  });

  it('both have Redis → both serve and know of each other; one stops → the other is alone at its next heartbeat', async () => {
    const [first, second] = await Promise.all([start({ redis: NO_REDIS }), start({ redis: NO_REDIS })]);
    const both = [first.registry.id, second.registry.id].sort();
    await Promise.all([first.registry.heartbeat(), second.registry.heartbeat()]);
    for (const { registry } of [first, second]) {
      expect(registry.live.map(({ id }) => id)).toEqual(both);
      expect([registry.isAlone, registry.isConfirmed]).toEqual([false, true]);
    }
    await second.stop();
    await eventually(() => first.registry.isAlone, { withinMs: 20_000 });
    // The second instance knows of both from the beginning.
    expect(names(first).filter((name) => name === 'instances_changed').length).toBeGreaterThanOrEqual(2);
  });
});

describe('dead instances', () => {
  it('killed on this machine → the next instance does not wait', async () => {
    const settings = { ...environmentOf({}), LOG_LEVEL: 'warn' };
    const killed = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings);
    ends.push(() => killed.kill());
    await killed.start();
    expect(String(await refused())).toContain('REDIS_URL is not set');
    await killed.kill();
    const next = await start();
    expect(names(next)).not.toContain('instance_waiting');
    // Its entry stays: its grants still have to be settled.
    expect(await entries()).toHaveLength(2);
    await eventually(() => next.registry.isAlone, { withinMs: 20_000 });
  }, 60_000);

  it('silent on another machine → the next instance waits for the rest of the 3 s, then starts', async () => {
    await enterStranger(false);
    await query(SEEN_LATER);
    const startedMs = performance.now();
    const next = await start();
    expect(performance.now() - startedMs).toBeGreaterThan(4_500);
    expect(next.logs.find(({ message }) => message === 'instance_waiting')).toMatchObject({
      host: 'elsewhere',
      pid: 77,
    });
    expect(next.registry.isAlone).toBe(true);
  });

  it('a process of the same name in another container → not considered dead', async () => {
    await enterStranger(false, hostname(), 1);
    await query(SEEN_LATER);
    expect(names(await start())).toContain('instance_waiting');
  });

  it('alive on another machine → refused as soon as its heartbeat changes', async () => {
    await enterStranger(true);
    let beating = true;
    const beats = (async () => {
      // As often as a real one, whose lease is three seconds.
      for (; beating; await sleep(700))
        await query("UPDATE gateway_instances SET seen_at = now() WHERE id = 'stranger'");
    })();
    const error = await refused();
    beating = false;
    await beats;
    expect(String(error)).toContain('process 77 on elsewhere serves from this database already');
  });

  it('dead for more than a day → deleted', async () => {
    await enterStranger(false);
    await query("UPDATE gateway_instances SET seen_at = now() - interval '25 hours'");
    const { registry } = await start();
    expect(await entries()).toEqual([{ id: registry.id }]);
  });
});

describe('an instance that cannot renew its lease', () => {
  async function cutOff(redis: string): Promise<{ cut: Running; freeze: () => void; thaw: () => void }> {
    const url = new URL(databaseUrl);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    ends.push(() => proxy.close());
    url.host = `127.0.0.1:${proxy.port}`;
    const cut = await start({ redis, databaseUrl: url.href });
    ends.push(async () => proxy.thaw());
    return { cut, freeze: () => proxy.freeze(), thaw: () => proxy.thaw() };
  }

  it('with Redis → unconfirmed before its lease expires; renewed within 5 s → confirmed', async () => {
    const { cut, freeze, thaw } = await cutOff(NO_REDIS);
    const other = await start({ redis: NO_REDIS });
    await other.registry.heartbeat();
    expect(other.registry.isAlone).toBe(false);
    freeze();
    await eventually(() => other.registry.isAlone, { withinMs: 20_000 });
    expect(cut.registry.isConfirmed).toBe(false);
    thaw();
    await eventually(() => cut.registry.isConfirmed && !other.registry.isAlone, { withinMs: 20_000 });
    expect(names(cut)).toEqual(expect.arrayContaining(['instance_unconfirmed', 'instance_confirmed']));
  }, 60_000);

  it('without Redis → continues; another one was admitted meanwhile → stays out until that one stops', async () => {
    const { cut, freeze, thaw } = await cutOff('');
    freeze();
    await eventually(async () => (await query(EXPIRED)).length === 1, { withinMs: 20_000 });
    expect(cut.registry.isConfirmed).toBe(true);
    const other = await start();
    thaw();
    await eventually(() => !cut.registry.isConfirmed, { withinMs: 20_000 });
    expect([other.registry.isAlone, other.registry.isConfirmed]).toEqual([true, true]);
    await other.stop();
    await eventually(() => cut.registry.isConfirmed, { withinMs: 20_000 });
    expect(names(cut).filter((name) => name === 'instance_unconfirmed')).toHaveLength(1);
  }, 60_000);
});

describeWithRedis('two instances with one Redis', () => {
  it('readyz and metrics of both → report the number of instances', async () => {
    const redis = await reachRedis();
    ends.push(() => redis.stop());
    const instances = [await start({ redis: redis.url }), await start({ redis: redis.url })];
    for (const { url, registry } of instances) {
      await registry.heartbeat();
      expect(await (await fetch(`${url}/v1/readyz`)).json()).toMatchObject({ instances: 2, limits: 'ok' });
      expect(await (await fetch(`${url}/metrics`)).text()).toContain('\ngateway_instances 2\n');
    }
  });
});
