import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';
import { createDataSource, type MigrationClass } from './data-source.js';
import { retryUnreachable } from './retry-unreachable.js';

/** Session advisory lock of a migration run. Advisory locks are per database; the number only has to be unique. */
const MIGRATION_LOCK = 5_272_024_001;

const LOCK_POLL_MS = 200;

/** A migration of a large table takes minutes; after this wait the lock holder counts as stuck. */
const LOCK_WAIT_MS = 15 * 60_000;

const APPLICATION_NAME = 'gateway-migrate';

/** Progress of a start that is not ready yet. `reason` is the code of the last failure. */
export type MigrationProgress =
  | { readonly step: 'waiting_for_postgres'; readonly attempt: number; readonly reason: string }
  | { readonly step: 'waiting_for_another_instance' };

export interface MigrateOptions {
  readonly url: Secret;
  readonly migrations: readonly MigrationClass[];
  readonly clock: Clock;
  /** Retry limit while Postgres is unreachable, in milliseconds; 0 = one attempt. */
  readonly waitMs: number;
  readonly onProgress?: (progress: MigrationProgress) => void;
}

/**
 * Migrates the database; safe to call concurrently from several instances, and again after an interruption: each
 * migration and its record share one transaction.
 *
 * @returns names of the migrations applied by this call, in order.
 * @throws the last Postgres error when it is not reachable within `waitMs`; at once for errors that a retry cannot fix,
 * such as a wrong password or a failing migration.
 * Source: docs/reference/security.md#dependency-failures.
 */
export function runMigrations(options: MigrateOptions): Promise<readonly string[]> {
  const { clock, waitMs, onProgress } = options;
  const onWait = (attempt: number, reason: string) => onProgress?.({ step: 'waiting_for_postgres', attempt, reason });
  return retryUnreachable(() => migrateUnderLock(options), { clock, waitMs, onWait });
}

/** A dedicated connection holds the lock: it is released when that connection ends, also after a crash. */
async function migrateUnderLock(options: MigrateOptions): Promise<readonly string[]> {
  const holder = new pg.Client(
    connectionConfig({ url: options.url, applicationName: APPLICATION_NAME, statementTimeoutMs: 0 }),
  );
  // A connection that dies between queries emits only this event; the next query then fails.
  holder.on('error', () => undefined);
  try {
    await holder.connect();
    await takeLock(holder, options);
    return (await isMigrated(holder, options)) ? [] : await migrate(options);
  } finally {
    await holder.end();
  }
}

async function takeLock(holder: pg.Client, { clock, onProgress }: MigrateOptions): Promise<void> {
  const startedMs = clock.monotonicMs();
  for (let attempt = 1; ; attempt++) {
    const { rows } = await holder.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    if (clock.monotonicMs() - startedMs > LOCK_WAIT_MS) {
      throw new Error(`Another instance has been migrating for ${LOCK_WAIT_MS / 60_000} minutes; see its log.`);
    }
    if (attempt === 1) onProgress?.({ step: 'waiting_for_another_instance' });
    await sleep(LOCK_POLL_MS);
  }
}

/** Whether each migration is recorded, as at most starts, which then need no second connection. */
async function isMigrated(holder: pg.Client, { migrations }: MigrateOptions): Promise<boolean> {
  const names = new Set(await recordedMigrations(holder));
  return migrations.every(({ name }) => names.has(name));
}

/** Names of the applied migrations, in order; empty if there is no schema yet. */
export async function recordedMigrations(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ found: boolean }>("select to_regclass('migrations') is not null as found");
  if (rows[0]?.found !== true) return [];
  const recorded = await client.query<{ name: string }>('select name from migrations order by id');
  return recorded.rows.map(({ name }) => name);
}

async function migrate({ url, migrations }: MigrateOptions): Promise<readonly string[]> {
  const dataSource = createDataSource({
    url,
    migrations,
    applicationName: APPLICATION_NAME,
    poolSize: 2,
    statementTimeoutMs: 0,
    entities: [],
  });
  await dataSource.initialize();
  try {
    const applied = await dataSource.runMigrations({ transaction: 'each' });
    return applied.map((migration) => migration.name);
  } finally {
    await dataSource.destroy();
  }
}
