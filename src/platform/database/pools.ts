import pg from 'pg';
import { DataSource } from 'typeorm';
import type { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';
import { createDataSource, type EntityClass } from './data-source.js';
import { DatabaseBreaker } from './database-breaker.js';
import { MIGRATIONS } from './migration-list.js';

/** Difference between statement timeout, silence timeout and wait timeout, so that each ends before the next one. */
const BOUNDS_APART_MS = 200;
const PROBE_MS = 500;
/** For storing events, counting refusals, nightly jobs, and management calls that change thousands of rows. */
const BACKGROUND_CONNECTIONS = 4;
/** What the first call after a pause uses at once. Opening them then would delay it by 25 to 80 ms. */
const KEPT_CONNECTIONS = 4;

/** The pool of the request path. */
export interface RequestPool {
  readonly dataSource: DataSource;
  close(): Promise<void>;
}

interface RequestPoolOptions {
  readonly url: Secret;
  /** Maximum connections, 1 or more. */
  readonly size: number;
  /** Longest wait for a free connection; the statement and silence timeouts are 0.4 and 0.2 s shorter. */
  readonly timeoutMs: number;
  readonly entities: readonly EntityClass[];
  readonly log: Log;
}

/**
 * Connects the request pool: every wait is bounded, and the breaker blocks a silent Postgres until a probe succeeds.
 * Source: ADR 0045.
 */
export async function openRequestPool(options: RequestPoolOptions): Promise<RequestPool> {
  const { url, size, timeoutMs, entities, log } = options;
  const silenceMs = timeoutMs - BOUNDS_APART_MS;
  const breaker = new DatabaseBreaker({
    silenceMs,
    probe: () => probe(url),
    onChange: (isOpen) => {
      if (isOpen) log.event('database_silent', { silenceMs });
      else log.event('database_answers_again', {});
    },
  });
  const dataSource = await createDataSource({
    url,
    poolSize: size,
    keptConnections: KEPT_CONNECTIONS,
    applicationName: 'gateway',
    statementTimeoutMs: silenceMs - BOUNDS_APART_MS,
    connectTimeoutMs: timeoutMs,
    breaker,
    entities,
    migrations: MIGRATIONS,
  }).initialize();
  breaker.watch(dataSource);
  const close = async () => {
    breaker.end();
    await dataSource.destroy();
  };
  return { dataSource, close };
}

/** Connects the background pool. Source: ADR 0045. */
export function openBackgroundPool(url: Secret, entities: readonly EntityClass[]): Promise<DataSource> {
  return createDataSource({
    url,
    poolSize: BACKGROUND_CONNECTIONS,
    applicationName: 'gateway-background',
    entities,
    migrations: [],
  }).initialize();
}

/** @throws unknown unless Postgres answers a statement on a separate connection in time. */
async function probe(url: Secret): Promise<void> {
  const bounds = { statementTimeoutMs: PROBE_MS, connectTimeoutMs: PROBE_MS, silenceMs: PROBE_MS };
  const client = new pg.Client(connectionConfig({ url, applicationName: 'gateway-probe', ...bounds }));
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
  } finally {
    await client.end();
  }
}

/**
 * Connections for statements outside the request path: storing events, nightly jobs, and management calls that change
 * thousands of rows. Their statement timeout is 10 seconds; that of {@link DataSource} is 1.5.
 */
export abstract class BackgroundDataSource extends DataSource {}
