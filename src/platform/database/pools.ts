import pg from 'pg';
import type { DataSource } from 'typeorm';
import type { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';
import { createDataSource } from './data-source.js';
import { DatabaseBreaker } from './database-breaker.js';
import { MIGRATIONS } from './migration-list.js';

/** Between the longest statement, the longest silence and the longest wait: each bound leaves the one before it time. */
const BOUNDS_APART_MS = 200;
const PROBE_MS = 500;
/** Storing events, counting refusals, the nightly work, a management call that changes thousands of rows. */
const BACKGROUND_CONNECTIONS = 4;

/** The connections that requests wait for. */
export interface RequestPool {
  readonly dataSource: DataSource;
  close(): Promise<void>;
}

interface RequestPoolOptions {
  readonly url: Secret;
  /** Most connections, 1 or more. */
  readonly size: number;
  /** Longest wait for a free connection; a statement and the silence of a connection end 0.4 and 0.2 s sooner. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/**
 * Connects what requests wait for: every wait is bounded, and a silent Postgres is not asked again until it answers a
 * probe. Source: ADR 0045.
 */
export async function openRequestPool({ url, size, timeoutMs, log }: RequestPoolOptions): Promise<RequestPool> {
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
    applicationName: 'gateway',
    statementTimeoutMs: silenceMs - BOUNDS_APART_MS,
    connectTimeoutMs: timeoutMs,
    breaker,
    entities: [],
    migrations: MIGRATIONS,
  }).initialize();
  breaker.watch(dataSource);
  const close = async () => {
    breaker.end();
    await dataSource.destroy();
  };
  return { dataSource, close };
}

/** Connects what nobody's request waits a moment for. Source: ADR 0045. */
export function openBackgroundPool(url: Secret): Promise<DataSource> {
  return createDataSource({
    url,
    poolSize: BACKGROUND_CONNECTIONS,
    applicationName: 'gateway-background',
    entities: [],
    migrations: [],
  }).initialize();
}

/** @throws unknown unless Postgres answers a statement on a connection of its own, in time. */
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
