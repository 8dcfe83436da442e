import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SystemClock } from '../../../src/common/clock.js';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import { createDataSource, type MigrationClass } from '../../../src/platform/database/data-source.js';
import { isConnectionTrouble, violatesUnique } from '../../../src/platform/database/database-errors.js';
import { type MigrationProgress, runMigrations } from '../../../src/platform/database/migrate.js';
import { openRequestPool } from '../../../src/platform/database/pools.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, emptyDatabase } from '../../support/platform/database.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';

class CreateFirst1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table first (id int constraint first_pkey primary key)');
    await runner.query('select pg_sleep(0.2)');
    await runner.query('insert into first values (1)');
  }
  async down(): Promise<void> {}
}

/** Ends when released. */
class Held1700000000001 implements MigrationInterface {
  static readonly begun = Promise.withResolvers<void>();
  static readonly letGo = Promise.withResolvers<void>();
  async up(): Promise<void> {
    Held1700000000001.begun.resolve();
    await Held1700000000001.letGo.promise;
  }
  async down(): Promise<void> {}
}

class CreateSecond1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table second (id int)');
  }
  async down(): Promise<void> {}
}

/** Fails midway on its first run, as if the process had been killed. */
class Interrupted1700000000002 implements MigrationInterface {
  static runs = 0;
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table second (id int)');
    if (Interrupted1700000000002.runs++ === 0) await runner.query('select pg_terminate_backend(pg_backend_pid())');
  }
  async down(): Promise<void> {}
}

const clock = new SystemClock();
const log = new Log(clock, 'error', () => undefined);
let url: string;

beforeEach(async () => {
  url = await emptyDatabase();
});

afterEach(async () => {
  await dropDatabase(url);
});

function migrate(migrations: readonly MigrationClass[], more: Partial<Parameters<typeof runMigrations>[0]> = {}) {
  return runMigrations({ url: new Secret(url), migrations, clock, waitMs: 0, ...more });
}

function dataSourceAt(where: string, statementTimeoutMs?: number) {
  return createDataSource({
    url: new Secret(where),
    applicationName: 'database-test',
    poolSize: 1,
    statementTimeoutMs,
    entities: [],
    migrations: [],
  });
}

function throughPort(port: number): string {
  const at = new URL(url);
  at.host = `127.0.0.1:${port}`;
  return at.href;
}

async function query(sql: string, statementTimeoutMs?: number): Promise<unknown> {
  const source = await dataSourceAt(url, statementTimeoutMs).initialize();
  try {
    return await source.query(sql);
  } finally {
    await source.destroy();
  }
}

describe('migrations', () => {
  it('three instances on an empty database at once → all start, each migration runs once', async () => {
    const all = [CreateFirst1700000000001, CreateSecond1700000000002];
    const applied = await Promise.all([migrate(all), migrate(all), migrate(all)]);
    expect(applied.filter((names) => names.length > 0)).toEqual([
      ['CreateFirst1700000000001', 'CreateSecond1700000000002'],
    ]);
    expect(await query('select id from first')).toEqual([{ id: 1 }]);
  });

  it('connection killed in the middle of a migration → the next attempt starts from a clean state', async () => {
    Interrupted1700000000002.runs = 0;
    const all = [CreateFirst1700000000001, Interrupted1700000000002];
    await expect(migrate(all)).rejects.toMatchObject({ code: '57P01' });
    expect(await query("select to_regclass('second') is null as absent")).toEqual([{ absent: true }]);
    expect(await migrate(all)).toEqual(['Interrupted1700000000002']);
  });

  it('interrupted while time remains → the same call retries and succeeds', async () => {
    Interrupted1700000000002.runs = 0;
    const progress: MigrationProgress[] = [];
    const onProgress = (step: MigrationProgress) => progress.push(step);
    const applied = await migrate([Interrupted1700000000002], { waitMs: 5_000, onProgress });
    expect(applied).toEqual(['Interrupted1700000000002']);
    expect(progress).toEqual([{ step: 'waiting_for_postgres', attempt: 1, reason: '57P01' }]);
  });

  it('a second instance while one migrates → says that it waits', async () => {
    const progress: MigrationProgress[] = [];
    const first = migrate([Held1700000000001]);
    await Held1700000000001.begun.promise;
    const others = [1, 2].map(() => migrate([Held1700000000001], { onProgress: (step) => progress.push(step) }));
    await eventually(() => progress.length === 2, { withinMs: 20_000 });
    Held1700000000001.letGo.resolve();
    expect(await Promise.all([first, ...others])).toEqual([['Held1700000000001'], [], []]);
    expect(progress).toEqual(Array(2).fill({ step: 'waiting_for_another_instance' }));
  });

  it('every migration is recorded → the next start needs one connection', async () => {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    const through = { url: new Secret(throughPort(proxy.port)) };
    const all = [CreateFirst1700000000001, CreateSecond1700000000002];
    await migrate(all);
    expect(await migrate(all, through)).toEqual([]);
    expect(proxy.connections()).toBe(1);
    await proxy.close();
  });

  it('Postgres cannot be reached → fails after the allowed wait, with a log line', async () => {
    const progress: MigrationProgress[] = [];
    const passing = new FakeClock();
    const refused = migrate([], {
      url: new Secret('postgres://nobody@127.0.0.1:1/none'),
      clock: passing,
      waitMs: 500,
      onProgress: (step) => {
        progress.push(step);
        passing.advance(200);
      },
    });
    await expect(refused).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    // The next pause would end after the allowed wait.
    expect(passing.monotonicMs()).toBe(400);
    const waiting = { step: 'waiting_for_postgres', reason: 'ECONNREFUSED' };
    expect(progress).toEqual([1, 2].map((attempt) => ({ ...waiting, attempt })));
  });

  it('an error that a retry does not solve → fails at once', async () => {
    const elsewhere = new URL(url);
    elsewhere.pathname = '/no_such_database';
    const progress: MigrationProgress[] = [];
    const onProgress = (step: MigrationProgress) => progress.push(step);
    const refused = migrate([], { url: new Secret(elsewhere.href), waitMs: 20_000, onProgress });
    await expect(refused).rejects.toMatchObject({ code: '3D000' });
    expect(progress).toEqual([]);
  });
});

describe('data source', () => {
  it('session: time zone → UTC, whatever the server’s default is', async () => {
    expect(await query("select current_setting('TimeZone') as zone")).toEqual([{ zone: 'UTC' }]);
  });

  it('a statement beyond its limit → ended by the server, recognised as a timeout', async () => {
    const slow = await query('select pg_sleep(5)', 100).catch((error: unknown) => error);
    expect(slow).toMatchObject({ code: '57014' });
    expect(isConnectionTrouble(slow)).toBe(true);
  });

  it('two rows with the same key → violatesUnique() names the constraint', async () => {
    await migrate([CreateFirst1700000000001]);
    const error = await query('insert into first values (1)').catch((failure: unknown) => failure);
    expect([violatesUnique(error, 'first_pkey'), violatesUnique(error, 'other'), isConnectionTrouble(error)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('the network drops everything → the statement fails, its connection is not used again', async () => {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    const source = await dataSourceAt(throughPort(proxy.port), 100).initialize();
    proxy.freeze();
    const stuck = await source.query('select 1').catch((failure: unknown) => failure);
    expect(stuck).toMatchObject({ code: 'ETIMEDOUT' });
    expect(isConnectionTrouble(stuck)).toBe(true);
    proxy.thaw();
    expect(await source.query('select 2 as two')).toEqual([{ two: 2 }]);
    await source.destroy();
    await proxy.close();
  });
});

describe('request pool', () => {
  it('six connections, all idle for the maximum time → four stay and serve the next statements', async () => {
    const pool = await openRequestPool({
      url: new Secret(url),
      size: 10,
      timeoutMs: 1_900,
      entities: [],
      log,
    });
    const backends = async (count: number) => {
      const runners = Array.from({ length: count }, () => pool.dataSource.createQueryRunner());
      // Each keeps its connection until all have one.
      const rows = await Promise.all(runners.map((runner) => runner.query('select pg_backend_pid() as pid')));
      await Promise.all(runners.map((runner) => runner.release()));
      return rows.map(([{ pid }]: [{ pid: number }]) => pid);
    };
    // Every connection is idle for longer than this soon after its statement.
    const { master } = pool.dataSource.driver as unknown as { master: pg.Pool };
    master.options.idleTimeoutMillis = 1;
    const before = new Set(await backends(6));
    await eventually(() => master.totalCount === 4, { withinMs: 10_000 });
    const after = await backends(6);
    await pool.close();
    expect(before.size).toBe(6);
    expect(after.filter((pid) => before.has(pid))).toHaveLength(4);
  });
});
