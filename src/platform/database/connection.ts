import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import type { Secret } from '../../common/log/secret.js';

/** How long a connection attempt, or the wait for a free pooled connection, may take. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** What distinguishes our connections; everything else is the same for all of them. */
export interface ConnectionOptions {
  readonly url: Secret;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** The server ends a statement after this many milliseconds; 0 = never (migrations). */
  readonly statementTimeoutMs: number;
  /** How long connecting may take, in milliseconds; 5 s when absent. */
  readonly connectTimeoutMs?: number;
  /** A connection that neither sends nor receives a byte for this many milliseconds is cut; absent = never. */
  readonly silenceMs?: number;
}

/**
 * Settings of one Postgres connection: bounded connecting, bounded statements, UTC.
 *
 * The statement limit is kept by the server, so it means nothing when the server is frozen or the network swallows
 * packets. `silenceMs` covers that case: the socket is destroyed, which fails the waiting query and removes the
 * connection from its pool. A client-side query time-out would leave the stuck connection in the pool.
 *
 * Source: docs/reference/application-api.md#provider-failures, docs/reference/security.md#dependency-failures.
 */
export function connectionConfig(options: ConnectionOptions): ClientConfig {
  const { silenceMs, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  return {
    connectionString: options.url.reveal(),
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs,
    keepAlive: true,
    options: '-c TimeZone=UTC',
    ...(silenceMs === undefined ? {} : { stream: () => socketCutAfter(silenceMs) }),
  };
}

function socketCutAfter(silenceMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs, () => socket.destroy(new SilentConnectionError(silenceMs)));
  return socket;
}

/** The server has not answered for so long that the connection was given up; carries the system's own code for that. */
export class SilentConnectionError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(silenceMs: number) {
    super(`Postgres was silent for ${silenceMs} ms`);
    this.name = 'SilentConnectionError';
  }
}
