import type pg from 'pg';
import { DataSource, type EntitySchema, type Logger, type MigrationInterface } from 'typeorm';
import type { Secret } from '../../common/log/secret.js';
import { CONNECT_TIMEOUT_MS, connectionConfig } from './connection.js';
import { BreakerClient, type DatabaseBreaker } from './database-breaker.js';

/** Default of `statementTimeoutMs`. */
const STATEMENT_TIMEOUT_MS = 10_000;

/**
 * How much longer than the statement timeout a connection may stay silent before it counts as dead. Idle connections
 * are closed earlier.
 */
const SILENCE_GRACE_MS = 2_000;

/** A migration; its class name ends with the epoch milliseconds of its file name. */
export type MigrationClass = new () => MigrationInterface;

export type EntityClass = (new () => object) | EntitySchema;

export interface DataSourceOptions {
  readonly url: Secret;
  /** Maximum connections of this pool, 1 or more. */
  readonly poolSize: number;
  /** How many connections stay open however long they are idle; 0 when absent. Only with a `breaker`. */
  readonly keptConnections?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Statement timeout in milliseconds; 10 s when absent, 0 = none. */
  readonly statementTimeoutMs?: number;
  /** Timeout for opening a connection or obtaining a free one, in milliseconds; 5 s when absent. */
  readonly connectTimeoutMs?: number;
  /** Bounds the silence of Postgres; call its `watch` once the data source is connected. */
  readonly breaker?: DatabaseBreaker;
  readonly entities: readonly EntityClass[];
  readonly migrations: readonly MigrationClass[];
}

/**
 * A data source, not yet connected, with bounded waits and UTC sessions. It never changes the schema: `migrate.ts`
 * does, and no extensions are installed.
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
      min: options.keptConnections ?? 0,
      idleTimeoutMillis: breaker ? STATEMENT_TIMEOUT_MS : statementTimeoutMs || STATEMENT_TIMEOUT_MS,
      // A connection that breaks during a handover has no listener; an unhandled `error` event would end the process.
      onConnect: (client: pg.Client) => void client.on('error', () => undefined),
    },
  });
}

/** Discards TypeORM's logging. Callers receive failures as errors and log them. */
class SilentLogger implements Logger {
  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}
