/**
 * The Postgres of one run of tests, in a process of its own: prints one line of JSON, `{adminUrl, template}`, and ends, with
 * all it has made, when its standard input ends. So it ends with the run, however that ends.
 *
 * node database-server.mjs <number of workers>
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SystemClock } from '../../../dist/src/common/clock.js';
import { Secret } from '../../../dist/src/common/log/secret.js';
import { runMigrations } from '../../../dist/src/platform/database/migrate.js';
import { MIGRATIONS } from '../../../dist/src/platform/database/migration-list.js';
import { startEmbeddedPostgres } from '../../../dist/src/platform/embedded-postgres/embedded-postgres.js';

const DATA_DIR_PREFIX = 'gateway-test-';
/** Durability is off. */
const SERVER = { disposable: true, maxConnections: 200, sharedBuffersMb: 128 };
/** The migrated database that every template is a copy of. */
const MIGRATED = 'gw_migrated';

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
  if (server === undefined) await createMigrated(adminUrl, `${template}_0`);
  const source = server === undefined ? `${template}_0` : MIGRATED;
  await withAdmin(adminUrl, async (admin) => {
    for (let worker = 1; worker <= workers; worker++)
      await admin.query(`create database ${template}_${worker} template ${source}`);
  });
}

async function createMigrated(url, name) {
  await withAdmin(url, (admin) => admin.query(`create database ${name}`));
  const migrated = new URL(url);
  migrated.pathname = `/${name}`;
  const options = { url: new Secret(migrated.href), migrations: MIGRATIONS, clock: new SystemClock(), waitMs: 10_000 };
  await runMigrations(options);
}

/** The templates and what was cloned from them. */
async function dropDatabases() {
  await withAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query('select datname from pg_database where starts_with(datname, $1)', [
      `${template}_`,
    ]);
    for (const { datname } of rows) await admin.query(`drop database if exists "${datname}" with (force)`);
  });
}

async function withAdmin(url, work) {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await work(admin).finally(() => admin.end());
}

async function startDisposableServer() {
  await removeServersOfKilledRuns();
  const dataDir = join(tmpdir(), `${DATA_DIR_PREFIX}${process.pid}`);
  const prepared = await preparedDataDir();
  if (prepared !== undefined) execFileSync('cp', ['-a', prepared, dataDir]);
  const embedded = await startEmbeddedPostgres(dataDir, SERVER);
  const url = embedded.url.reveal();
  if (prepared === undefined) await createMigrated(url, MIGRATED);
  return { url, stop: () => stopAndRemove(embedded, dataDir) };
}

/**
 * A data directory with a migrated database, made by the first run that needs it: creating one takes seconds, copying it a
 * fraction of one. Absent where the account of the server cannot reach temporary files.
 */
async function preparedDataDir() {
  const prepared = join(tmpdir(), `gateway-tests-prepared-${userInfo().uid}-${stateHash()}`);
  if (existsSync(prepared)) return prepared;
  const making = `${prepared}-${process.pid}`;
  const embedded = await startEmbeddedPostgres(making, SERVER);
  await createMigrated(embedded.url.reveal(), MIGRATED);
  await embedded.stop();
  if (!embedded.directory.startsWith(making)) {
    rmSync(embedded.directory, { recursive: true, force: true });
    rmSync(making, { recursive: true, force: true });
    return undefined;
  }
  renameSync(making, prepared);
  return prepared;
}

/** Of everything that a prepared data directory depends on: the migrations, how they are run, and the server. */
function stateHash() {
  const dist = new URL('../../../dist/', import.meta.url);
  const hash = createHash('sha256');
  for (const folder of ['migrations/', 'src/platform/database/'])
    for (const name of readdirSync(new URL(folder, dist))
      .filter((file) => file.endsWith('.js'))
      .sort())
      hash.update(readFileSync(new URL(folder + name, dist)));
  const { optionalDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  hash.update(JSON.stringify(optionalDependencies));
  return hash.digest('hex').slice(0, 16);
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
