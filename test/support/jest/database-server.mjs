/**
 * The Postgres of one run of tests, in a separate process: prints one line of JSON, `{adminUrl, template}`, and ends,
 * with all it has made, when its standard input ends. So it ends with the run, however that ends.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../dist/src/platform/embedded-postgres/embedded-postgres.js';

const DATA_DIR_PREFIX = 'gateway-test-';
/** Durability is off. Buffers are few: every clone writes the changed ones out. */
const SERVER = { disposable: true, maxConnections: 200, sharedBuffersMb: 32 };
/**
 * Of the prepared server. A service opens a dozen connections; each suite has a database, which would be vacuumed in
 * vain.
 */
const SETTINGS = { autovacuum: 'off', max_wal_size: '128MB' };
const SCRAM_ITERATIONS = 1;
/** A database is 600 files, which a file system in memory makes and removes at a third of the CPU. */
const MEMORY = '/dev/shm';
const NEEDED_BYTES = 4 * 1024 ** 3;
/** Of the server, below its data directory. */
const CLUSTER = 'postgres/data';
const PROGRAMS = 'postgres/binaries';
/** Of a prepared data directory: all but the database, and the database. */
const HOME = 'home';
const DATABASE = 'database';
/** The migrated database that suites clone. */
const MIGRATED = 'gw_migrated';

const server = process.env.DATABASE_URL ? undefined : await startDisposableServer();
const adminUrl = process.env.DATABASE_URL ?? server.url;
/** On a server of others it holds the process id, so that two runs there do not meet. */
const template = server === undefined ? `${MIGRATED}_${process.pid}` : MIGRATED;
if (server === undefined) await createMigrated(adminUrl, template);
process.stdout.write(`${JSON.stringify({ adminUrl, template })}\n`);
process.stdin.resume().once('end', async () => {
  if (server === undefined) await dropDatabases();
  else await server.stop();
});

/** Loads what only this needs: a prepared database is migrated. */
async function createMigrated(url, name) {
  const [{ SystemClock }, { Secret }, { runMigrations }, { MIGRATIONS }] = await Promise.all([
    import('../../../dist/src/common/clock.js'),
    import('../../../dist/src/common/log/secret.js'),
    import('../../../dist/src/platform/database/migrate.js'),
    import('../../../dist/src/platform/database/migration-list.js'),
  ]);
  await withAdmin(url, (admin) => admin.query(`create database ${name}`));
  const migrated = new URL(url);
  migrated.pathname = `/${name}`;
  const options = { url: new Secret(migrated.href), migrations: MIGRATIONS, clock: new SystemClock(), waitMs: 10_000 };
  await runMigrations(options);
}

/** The template and what was cloned from it. */
async function dropDatabases() {
  await withAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query('select datname from pg_database where starts_with(datname, $1)', [template]);
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
  if (prepared !== undefined) copyPrepared(prepared, dataDir);
  const embedded = await startEmbeddedPostgres(dataDir, SERVER);
  const url = embedded.url.reveal();
  if (prepared === undefined) await createMigrated(url, MIGRATED);
  return { url, stop: () => stopAndRemove(embedded, dataDir) };
}

/** The database goes to memory where there is enough; programs may not be run from there everywhere. */
function copyPrepared(prepared, dataDir) {
  execFileSync('cp', ['-a', join(prepared, HOME), dataDir]);
  const cluster = join(dataDir, CLUSTER);
  const copy = hasMemory() ? inMemory(dataDir) : cluster;
  execFileSync('cp', ['-a', join(prepared, DATABASE), copy]);
  if (copy !== cluster) symlinkSync(copy, cluster);
}

function inMemory(dataDir) {
  return join(MEMORY, basename(dataDir));
}

function hasMemory() {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > NEEDED_BYTES;
}

/**
 * A data directory with a migrated database, made by the first run that needs it: creating one takes seconds, copying
 * it a fraction of one. Its database and its programs are apart. Absent where the account of the server cannot reach
 * temporary files.
 */
async function preparedDataDir() {
  const prepared = join(tmpdir(), `gateway-tests-prepared-${userInfo().uid}-${stateHash()}`);
  if (existsSync(prepared)) return prepared;
  const making = `${prepared}-${process.pid}`;
  mkdirSync(making);
  const embedded = await startEmbeddedPostgres(join(making, HOME), SERVER);
  await createMigrated(embedded.url.reveal(), MIGRATED);
  await withAdmin(embedded.url.reveal(), prepare);
  await embedded.stop();
  if (!embedded.directory.startsWith(making)) {
    rmSync(embedded.directory, { recursive: true, force: true });
    rmSync(making, { recursive: true, force: true });
    return undefined;
  }
  renameSync(join(making, HOME, CLUSTER), join(making, DATABASE));
  renameSync(join(making, HOME, PROGRAMS), join(making, 'programs'));
  symlinkSync(join(prepared, 'programs'), join(making, HOME, PROGRAMS));
  renameSync(making, prepared);
  return prepared;
}

/** Settings that hold from the next start of the server. */
async function prepare(admin) {
  for (const [name, value] of Object.entries(SETTINGS)) await admin.query(`alter system set ${name} = '${value}'`);
  await admin.query(`set scram_iterations = ${SCRAM_ITERATIONS}`);
  await admin.query(`alter role ${admin.user} password '${admin.password}'`);
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
  hash.update(readFileSync(import.meta.filename));
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
    if (isForgotten(join(dataDir, CLUSTER))) {
      rmSync(dataDir, { recursive: true });
      continue;
    }
    try {
      await stopAndRemove(await startEmbeddedPostgres(dataDir, { disposable: true }), dataDir);
    } catch (error) {
      process.stderr.write(`${dataDir} is left over from a killed run and could not be removed: ${error.message}\n`);
    }
  }
}

/** The machine was started again: a database in memory is gone, and its server with it. */
function isForgotten(cluster) {
  return lstatSync(cluster, { throwIfNoEntry: false }) !== undefined && !existsSync(cluster);
}

async function stopAndRemove(embedded, dataDir) {
  await embedded.stop();
  rmSync(embedded.directory, { recursive: true, force: true });
  for (const directory of [dataDir, inMemory(dataDir)]) rmSync(directory, { recursive: true, force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
