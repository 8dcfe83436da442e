import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** A migrated database of its own for a suite. Returns its URL. */
export async function freshDatabase(): Promise<string> {
  const url = await createDatabase(requireEnv('TEST_TEMPLATE'));
  // Suites share one Redis; a clone must not take another's counts for its own.
  await asClientOf(url, (client) => client.query('UPDATE limit_epoch SET deployment = gen_random_uuid()::text'));
  return url;
}

/** A database without any table, for tests of the migrations themselves. Returns its URL. */
export async function emptyDatabase(): Promise<string> {
  return createDatabase('template0');
}

/** Drops a database made here, also while somebody is connected to it. */
export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`));
}

async function createDatabase(template: string): Promise<string> {
  const name = `${requireEnv('TEST_TEMPLATE')}_${randomBytes(4).toString('hex')}`;
  // Copying files takes half of the CPU of copying and logging pages.
  await asAdmin((admin) => admin.query(`create database ${name} template ${template} strategy file_copy`));
  const url = new URL(requireEnv('TEST_ADMIN_URL'));
  url.pathname = `/${name}`;
  return url.href;
}

function asAdmin(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  return asClientOf(requireEnv('TEST_ADMIN_URL'), work);
}

async function asClientOf(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run this suite as part of the e2e or contract project.`);
  return value;
}
