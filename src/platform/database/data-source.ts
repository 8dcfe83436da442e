import type pg from 'pg';
import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import type { Secret } from '../../common/log/secret.js';
import { CONNECT_TIMEOUT_MS, connectionConfig } from './connection.js';
import { BreakerClient, type DatabaseBreaker } from './database-breaker.js';
import { SilentLogger } from './silent-logger.js';

/** Default of `statementTimeoutMs`. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * How much longer than a statement may run a connection may stay silent before it counts as dead. Unused connections
 * are closed before that, so only dead ones get there.
 */
const SILENCE_GRACE_MS = 2_000;

/** A migration; its class name ends in the epoch milliseconds of its file name. */
export type MigrationClass = new () => MigrationInterface;

/** An entity: a decorated class or a schema. */
type EntityClass = (new () => object) | EntitySchema;

export interface DataSourceOptions {
  readonly url: Secret;
  /** Most connections this process holds at once, 1 or more. */
  readonly poolSize: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Longest a statement may run, in milliseconds; 10 s when absent, 0 = no limit. */
  readonly statementTimeoutMs?: number;
  /** Longest a connection may take to be opened or to become free, in milliseconds; 5 s when absent. */
  readonly connectTimeoutMs?: number;
  /** Bounds how long Postgres may be silent; its `watch` must be called once the data source is connected. */
  readonly breaker?: DatabaseBreaker;
  readonly entities: readonly EntityClass[];
  readonly migrations: readonly MigrationClass[];
}

/**
 * A data source, not yet connected, whose every wait is bounded and whose sessions run in UTC. It never changes the
 * schema by itself: `migrate.ts` does, and extensions are not installed.
 *
 * Source: docs/reference/security.md#dependency-failures.
 */
export function createDataSource(options: DataSourceOptions): DataSource {
  const { breaker, connectTimeoutMs = CONNECT_TIMEOUT_MS, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  return new DataSource({
    type: 'postgres',
    url: options.url.reveal(),
    applicationName: options.applicationName,
    poolSize: options.poolSize,
    connectTimeoutMS: connectTimeoutMs,
    entities: [...options.entities],
    migrations: [...options.migrations],
    migrationsTransactionMode: 'each',
    synchronize: false,
    installExtensions: false,
    logger: new SilentLogger(),
    extra: {
      ...connectionConfig({
        url: options.url,
        applicationName: options.applicationName,
        statementTimeoutMs,
        connectTimeoutMs,
        silenceMs: statementTimeoutMs === 0 ? undefined : statementTimeoutMs + SILENCE_GRACE_MS,
      }),
      ...(breaker === undefined ? {} : { Client: BreakerClient, stream: () => breaker.socket() }),
      idleTimeoutMillis: breaker ? STATEMENT_TIMEOUT_MS : statementTimeoutMs || STATEMENT_TIMEOUT_MS,
      // A connection that breaks while it changes hands has nobody listening, which would end the process.
      onConnect: (client: pg.Client) => void client.on('error', () => undefined),
    },
  });
}
