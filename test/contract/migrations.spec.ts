import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../src/common/log/secret.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { MIGRATIONS } from '../../src/platform/database/migration-list.js';
import { dropDatabase, emptyDatabase } from '../support/database.js';

let url: string;
let source: DataSource;

beforeEach(async () => {
  url = await emptyDatabase();
  source = await createDataSource({
    url: new Secret(url),
    poolSize: 2,
    applicationName: 'migrations-test',
    entities: [],
    migrations: MIGRATIONS,
  }).initialize();
});

afterEach(async () => {
  await source.destroy();
  await dropDatabase(url);
});

async function up(): Promise<void> {
  await source.runMigrations({ transaction: 'each' });
}

async function downCompletely(): Promise<void> {
  for (const _migration of MIGRATIONS) await source.undoLastMigration({ transaction: 'each' });
}

/** Columns, constraints and indexes, as Postgres spells them. */
async function schema(): Promise<unknown> {
  const columns = await source.query(
    `SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name <> 'migrations' ORDER BY 1, 2`,
  );
  const constraints = await source.query(
    `SELECT conrelid::regclass::text AS on_table, conname, pg_get_constraintdef(oid) AS text FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace AND conrelid <> 'migrations'::regclass ORDER BY 1, 2`,
  );
  const indexes = await source.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'migrations' ORDER BY 1",
  );
  return { columns, constraints, indexes };
}

/** Everything of ours in the database, whatever its kind. */
async function leftovers(): Promise<unknown> {
  return source.query(
    `SELECT relname FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE '%migrations%' AND relname NOT LIKE 'PK_%'
     UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typname NOT LIKE '%migrations'`,
  );
}

describe('migrations', () => {
  it('up, down, up → the same schema again, and nothing left in between', async () => {
    await up();
    const first = await schema();
    await downCompletely();
    expect(await leftovers()).toEqual([]);
    await up();
    expect(await schema()).toEqual(first);
    expect(first).toMatchObject({ columns: expect.arrayContaining([expect.anything()]) });
  });

  it('constraints → all named by us, so that a refusal can be told by its name', async () => {
    await up();
    const generated = await source.query(
      `SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
          AND conrelid <> 'migrations'::regclass AND contype IN ('p', 'u', 'f', 'c') AND conname !~ '_(pkey|key|fkey|check)$'`,
    );
    expect(generated).toEqual([]);
  });

  it('files in migrations/ → each is in the list, oldest first', () => {
    const stamps = readdirSync(new URL('../../migrations/', import.meta.url))
      .map((file) => /^(\d{13})-[a-z]+(?:-[a-z]+)+\.ts$/.exec(file)?.[1] ?? file)
      .sort();
    expect(MIGRATIONS.map(({ name }) => name.slice(-13))).toEqual(stamps);
  });
});
