import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Together longer than the end of a pool needs. */
const CLOSING_LOOKS = 20;
const CLOSING_LOOK_MS = 10;

/** A new connection costs more CPU than the copy of a database: a worker keeps the one it creates and drops with. */
let admin: pg.Pool | undefined;

/**
 * A migrated database of its own for a suite. Returns its URL.
 *
 * @param usesRedis false: nothing on it counts in Redis.
 */
export async function freshDatabase(usesRedis = true): Promise<string> {
  const url = await createDatabase(requireEnv('TEST_TEMPLATE'));
  // Suites share one Redis; a clone must not take another's counts for its own.
  if (usesRedis) await nameDeployment(url);
  return url;
}

/** A database without any table, for tests of the migrations themselves. Returns its URL. */
export async function emptyDatabase(): Promise<string> {
  return createDatabase('template0');
}

/**
 * Drops a database made here, also while somebody is connected to it. Connections that are being closed get a moment: a
 * connection that the server ends first reports an error.
 */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (let look = 0; look < CLOSING_LOOKS && (await isConnectedTo(name)); look++) await sleep(CLOSING_LOOK_MS);
  await query(`drop database if exists ${name} with (force)`);
}

async function isConnectedTo(name: string): Promise<boolean> {
  const { rows } = await query<{ found: boolean }>(
    `select exists (select from pg_stat_activity where datname = '${name}') as found`,
  );
  return rows[0]?.found === true;
}

async function createDatabase(template: string): Promise<string> {
  const name = `${requireEnv('TEST_TEMPLATE')}_${randomBytes(4).toString('hex')}`;
  // Copying files takes half of the CPU of copying and logging pages.
  await query(`create database ${name} template ${template} strategy file_copy`);
  const url = new URL(requireEnv('TEST_ADMIN_URL'));
  url.pathname = `/${name}`;
  return url.href;
}

async function nameDeployment(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('UPDATE limit_epoch SET deployment = gen_random_uuid()::text');
  } finally {
    await client.end();
  }
}

function query<T extends object>(sql: string): Promise<pg.QueryResult<T>> {
  admin ??= newAdmin();
  return admin.query<T>(sql);
}

function newAdmin(): pg.Pool {
  // Nothing closes it: the worker ends without waiting for it.
  const options = { max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true };
  const pool = new pg.Pool({ connectionString: requireEnv('TEST_ADMIN_URL'), ...options });
  // The server of the run ends before the worker.
  return pool.on('error', () => undefined);
}

function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run this suite as part of the e2e or contract project.`);
  return value;
}
