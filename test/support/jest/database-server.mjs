/**
 * The Postgres of one run of tests, in a process of its own: prints one line of JSON, `{adminUrl, template}`, and ends, with
 * all it has made, when its standard input ends. So it ends with the run, however that ends.
 *
 * node database-server.mjs <number of workers>
 */
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SystemClock } from '../../../dist/src/common/clock.js';
import { Secret } from '../../../dist/src/common/log/secret.js';
import { startEmbeddedPostgres } from '../../../dist/src/platform/database/embedded-postgres.js';
import { runMigrations } from '../../../dist/src/platform/database/migrate.js';
import { MIGRATIONS } from '../../../dist/src/platform/database/migration-list.js';

const DATA_DIR_PREFIX = 'gateway-test-';

const workers = Number(process.argv[2]);
/** Holds the process id, so that two runs on one server do not meet. */
const template = `gw_template_${process.pid}`;

const server = process.env.DATABASE_URL ? undefined : await startDisposableServer();
const adminUrl = process.env.DATABASE_URL ?? server.url;
await createTemplates();
process.stdout.write(`${JSON.stringify({ adminUrl, template })}\n`);
process.stdin.resume().once('end', async () => {
  await dropDatabases();
  await server?.stop();
});

/** A migrated database for each worker to clone: nobody else may be connected to a template while it is cloned. */
async function createTemplates() {
  await asAdmin((admin) => admin.query(`create database ${template}_1`));
  const url = new URL(adminUrl);
  url.pathname = `/${template}_1`;
  await runMigrations({ url: new Secret(url.href), migrations: MIGRATIONS, clock: new SystemClock(), waitMs: 10_000 });
  await asAdmin(async (admin) => {
    for (let worker = 2; worker <= workers; worker++)
      await admin.query(`create database ${template}_${worker} template ${template}_1`);
  });
}

/** The templates and what was cloned from them. */
async function dropDatabases() {
  await asAdmin(async (admin) => {
    const { rows } = await admin.query('select datname from pg_database where starts_with(datname, $1)', [`${template}_`]);
    for (const { datname } of rows) await admin.query(`drop database if exists "${datname}" with (force)`);
  });
}

async function asAdmin(work) {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await work(admin).finally(() => admin.end());
}

/** Durability is off. */
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

/** A run that was killed together with this process leaves its server running; taking it over is the way to end it. */
async function removeServersOfKilledRuns() {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(DATA_DIR_PREFIX) ? Number(name.slice(DATA_DIR_PREFIX.length)) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const dataDir = join(tmpdir(), name);
    try {
      await stopAndRemove(await startEmbeddedPostgres(dataDir, { disposable: true }), dataDir);
    } catch (error) {
      process.stderr.write(`${dataDir} is left over from a killed run and could not be removed: ${error.message}\n`);
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
