import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import type { Secret } from '../../common/log/secret.js';

/** Timeout of a connection attempt and of the wait for a free pooled connection. */
export const CONNECT_TIMEOUT_MS = 5_000;

/** Idle time after which the system probes a connection: it learns of a dead peer, and firewalls do not forget it. */
const KEEP_ALIVE_MS = 30_000;

/** What differs between the connections of this process. */
export interface ConnectionOptions {
  readonly url: Secret;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** The server's statement timeout in milliseconds; 0 = none (migrations). */
  readonly statementTimeoutMs: number;
  /** Connect timeout in milliseconds; 5 s when absent. */
  readonly connectTimeoutMs?: number;
  /** A connection without traffic for this many milliseconds is destroyed; absent = never. */
  readonly silenceMs?: number;
}

/**
 * Settings of one Postgres connection: bounded connecting, bounded statements, UTC.
 *
 * The server enforces the statement timeout, so it has no effect when the server is frozen or the network drops
 * packets. `silenceMs` covers that case: it destroys the socket, which fails the pending query and removes the
 * connection from its pool. A client-side query timeout would leave the stuck connection in the pool.
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
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    options: '-c TimeZone=UTC',
    ...(silenceMs === undefined ? {} : { stream: () => socketCutAfter(silenceMs) }),
  };
}

function socketCutAfter(silenceMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(silenceMs, () => socket.destroy(new SilentConnectionError(silenceMs)));
  return socket;
}

/** The connection was dropped because the server stayed silent; carries the system's timeout code. */
export class SilentConnectionError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(silenceMs: number) {
    super(`Postgres was silent for ${silenceMs} ms`);
    this.name = 'SilentConnectionError';
  }
}
