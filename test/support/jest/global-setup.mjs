import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { SystemClock } from '../../../dist/src/common/clock.js';
import { Secret } from '../../../dist/src/common/log/secret.js';
import { startEmbeddedPostgres } from '../../../dist/src/platform/database/embedded-postgres.js';
import { runMigrations } from '../../../dist/src/platform/database/migrate.js';
import { MIGRATIONS } from '../../../dist/src/platform/database/migration-list.js';

const DATA_DIR_PREFIX = 'gateway-test-';
const COMPILED = fileURLToPath(new URL('../../../node_modules/.cache/gateway-tests', import.meta.url));

/**
 * Gives the suites that need one a Postgres and a migrated template database to clone: the server at `DATABASE_URL`,
 * or an embedded one with durability off. Names hold the process id, so that two runs at once do not meet.
 */
export default async function setUp() {
  const server = process.env.DATABASE_URL ? undefined : await startDisposableServer();
  const adminUrl = process.env.DATABASE_URL ?? server.url;
  const template = `gw_template_${process.pid}`;

  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`drop database if exists ${template} with (force)`);
  await admin.query(`create database ${template}`);
  await admin.end();

  const url = new URL(adminUrl);
  url.pathname = `/${template}`;
  await runMigrations({ url: new Secret(url.href), migrations: MIGRATIONS, clock: new SystemClock(), waitMs: 10_000 });

  process.env.TEST_ADMIN_URL = adminUrl;
  // Suites start the built service a hundred times; what was compiled once need not be compiled again.
  process.env.NODE_COMPILE_CACHE ??= COMPILED;
  process.env.TEST_TEMPLATE = template;
  globalThis.testDatabaseServer = server;
}

async function startDisposableServer() {
  await removeServersOfKilledRuns();
  const dataDir = join(tmpdir(), `${DATA_DIR_PREFIX}${process.pid}`);
  const embedded = await startEmbeddedPostgres(dataDir, {
    disposable: true,
    maxConnections: 200,
    sharedBuffersMb: 128,
  });
  return { url: embedded.url.reveal(), stop: () => stopAndRemove(embedded, dataDir) };
}

/** A run that was killed leaves its server running; taking it over is the way to end it. */
async function removeServersOfKilledRuns() {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(DATA_DIR_PREFIX) ? Number(name.slice(DATA_DIR_PREFIX.length)) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const dataDir = join(tmpdir(), name);
    try {
      await stopAndRemove(await startEmbeddedPostgres(dataDir, { disposable: true }), dataDir);
    } catch (error) {
      console.warn(`${dataDir} is left over from a killed run and could not be removed: ${error.message}`);
    }
  }
}

async function stopAndRemove(embedded, dataDir) {
  await embedded.stop();
  rmSync(embedded.directory, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
