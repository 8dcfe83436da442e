import pg from 'pg';
import { type Ids, SystemIds } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { connectionConfig } from '../database/connection.js';
import type { EmbeddedPostgresOptions } from './embedded-postgres.rules.js';
import { installBinaries } from './embedded-postgres-binaries.js';
import { createCluster, EMBEDDED_NAME } from './embedded-postgres-cluster.js';
import { type EmbeddedHome, hasCluster, openHome, requirePassword } from './embedded-postgres-home.js';
import { findRunningServer, isServerAlive, launchServer, stopServer } from './embedded-postgres-server.js';
import { registerUser, withFileLock } from './process-file.js';
import { type ServerEvents, ServerKeeper } from './server-keeper.js';

/** Exceeds the longest start or stop of another process. */
const LOCK_WAIT_MS = 300_000;

const SETUP_STATEMENT_TIMEOUT_MS = 60_000;

/** A running embedded server that this process uses. */
export interface EmbeddedPostgres {
  /** Connection URL; contains the superuser's password. */
  readonly url: Secret;
  /** Holds database, password and log. */
  readonly directory: string;
  /** True when the server was already running: orphaned by a killed process, or shared with a running one. */
  readonly adopted: boolean;
  /** Releases this use; the last user stops the server. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Starts or adopts the Postgres server of a data directory. Any number of processes on one machine may call this
 * concurrently and share the server; a lock, which a killed process does not keep, covers creation, start and stop. An
 * adopted server keeps its original settings. A server that ends while it is in use is started again, on the same port.
 *
 * @param dataDir created when absent; the database goes below it, or under `/var/lib/gateway` (see `openHome`).
 * @throws Error with a remedy when this machine cannot run an embedded server or the server does not start.
 * Source: docs/operations.md#start, docs/reference/security.md#dependency-failures.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  options: EmbeddedPostgresOptions = {},
  ids: Ids = new SystemIds(),
  events: ServerEvents = {},
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
      stop: stopperOf(home, bin, keepRunning(home, bin, options, port, events)),
    };
  });
}

/** The URL in use names the port, so the server has to have it again. */
function keepRunning(
  home: EmbeddedHome,
  bin: string,
  options: EmbeddedPostgresOptions,
  port: number,
  events: ServerEvents,
): ServerKeeper {
  const restart = () =>
    withFileLock(home.lockFile, LOCK_WAIT_MS, async () => {
      const runningPort = await findRunningServer(home);
      if (runningPort === undefined) await launchServer(home, bin, options, port);
      else if (runningPort !== port) {
        throw new Error(`Postgres runs on port ${runningPort} instead of ${port}: restart this process.`);
      }
      return runningPort !== undefined;
    });
  return new ServerKeeper({ ...events, directory: home.directory, isRunning: () => isServerAlive(home), restart });
}

function stopperOf(home: EmbeddedHome, bin: string, keeper: ServerKeeper): () => Promise<void> {
  const use = registerUser(home.usersDirectory);
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await keeper.stop();
    await withFileLock(home.lockFile, LOCK_WAIT_MS, async () => {
      if (!use.leave().othersRemain) await stopServer(home, bin);
    });
  };
  return () => {
    stopping ??= stop();
    return stopping;
  };
}

/** Also completes the start of a process that was killed before it created the database. */
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

/** Disables TLS on loopback, even when the environment enables it for the driver. */
function urlOf(password: Secret, port: number, database: string): Secret {
  return new Secret(`postgres://${EMBEDDED_NAME}:${password.reveal()}@127.0.0.1:${port}/${database}?sslmode=disable`);
}
