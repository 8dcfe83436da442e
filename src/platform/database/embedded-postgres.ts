import pg from 'pg';
import { type Ids, SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { connectionConfig } from './connection.js';
import type { EmbeddedPostgresOptions } from './embedded-postgres.rules.js';
import { installBinaries } from './embedded-postgres-binaries.js';
import { createCluster, EMBEDDED_NAME } from './embedded-postgres-cluster.js';
import { type EmbeddedHome, hasCluster, openHome, requirePassword } from './embedded-postgres-home.js';
import { findRunningServer, launchServer, stopServer } from './embedded-postgres-server.js';
import { registerUser, withFileLock } from './process-file.js';

/** Longer than the longest start or stop that another process may be in the middle of. */
const LOCK_WAIT_MS = 300_000;

const SETUP_STATEMENT_TIMEOUT_MS = 60_000;

/** A running embedded server that this process uses. */
export interface EmbeddedPostgres {
  /** Where to connect; holds the superuser's password. */
  readonly url: Secret;
  /** Where database, password and log are. */
  readonly directory: string;
  /** True when the server was already running: left by a process that was killed, or shared with a living one. */
  readonly adopted: boolean;
  /** Gives up this use; the server ends with its last user. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts, or adopts, the Postgres that belongs to a data directory. Any number of processes of one machine may do so
 * at once and share the server; it is created, started and stopped under a lock that a killed process cannot keep.
 * A server that is adopted keeps the settings it was started with.
 *
 * @param dataDir created when absent; the database goes below it, or under `/var/lib/gateway` (see `openHome`).
 * @throws Error saying what to do, when this machine cannot run an embedded server or the server does not start.
 * Source: docs/operations.md#start, docs/reference/security.md#dependency-failures.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: EmbeddedPostgresOptions = {},
  ids: Ids = new SystemIds(),
): Promise<EmbeddedPostgres> {
  const home = openHome(dataDir);
  return withFileLock(home.lockFile, LOCK_WAIT_MS, async () => {
    const bin = installBinaries(home.directory);
    const password = requirePassword(home, ids);
    if (!hasCluster(home.directory)) await createCluster(home, bin, password, options.disposable === true);
    const runningPort = await findRunningServer(home);
    const port = runningPort ?? (await launchServer(home, bin, options));
    await ensureDatabase(urlOf(password, port, 'postgres'));
    return {
      url: urlOf(password, port, EMBEDDED_NAME),
      directory: home.directory,
      adopted: runningPort !== undefined,
      stop: stopperOf(home, bin),
    };
  });
}

function stopperOf(home: EmbeddedHome, bin: string): () => Promise<void> {
  const use = registerUser(home.usersDirectory);
  let stopping: Promise<void> | undefined;
  const stop = () =>
    withFileLock(home.lockFile, LOCK_WAIT_MS, async () => {
      if (!use.leave().othersRemain) await stopServer(home, bin);
    });
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

/** Also finishes the work of a process that was killed between starting the server and creating the database. */
async function ensureDatabase(url: Secret): Promise<void> {
  const client = new pg.Client(
    connectionConfig({ url, applicationName: 'gateway-setup', statementTimeoutMs: SETUP_STATEMENT_TIMEOUT_MS }),
  );
  await client.connect();
  try {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [EMBEDDED_NAME]);
    if (rowCount === 0) await client.query(`create database ${EMBEDDED_NAME}`);
  } finally {
    await client.end();
  }
}

/** Encryption is off for loopback, also when the environment of this process asks the driver for it. */
function urlOf(password: Secret, port: number, database: string): Secret {
  return new Secret(`postgres://${EMBEDDED_NAME}:${password.reveal()}@127.0.0.1:${port}/${database}?sslmode=disable`);
}
