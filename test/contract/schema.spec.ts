import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { readSchema } from '../../src/commands/documentation/schema.repository.js';
import { renderSchema } from '../../src/commands/documentation/schema.rules.js';
import { withMigratedDatabase } from '../../src/commands/documentation/schema-database.js';
import { TABLE_AREAS } from '../../src/commands/documentation/tables.js';
import { Secret } from '../../src/common/log/secret.js';
import { loadEnvironment } from '../../src/platform/config/environment.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { dropDatabase, freshDatabase } from '../support/platform/database.js';

let url: string;
let source: DataSource;

beforeAll(async () => {
  url = await freshDatabase();
  source = await createDataSource({
    url: new Secret(url),
    poolSize: 1,
    applicationName: 'schema-test',
    entities: [],
    migrations: [],
  }).initialize();
});

afterAll(async () => {
  await source.destroy();
  await dropDatabase(url);
});

async function rendered(): Promise<string> {
  return renderSchema(await readSchema(source), TABLE_AREAS);
}

async function nameOf(database: DataSource): Promise<string> {
  const [row] = await database.query<{ name: string }[]>('SELECT current_database() AS name');
  return String(row?.name);
}

describe('docs/schema.md', () => {
  it('migrated database → as `npm run docs` writes it', async () => {
    expect(readFileSync(new URL('../../docs/schema.md', import.meta.url), 'utf8')).toBe(await rendered());
  });

  it('another partition of usage_events → the same document', async () => {
    const before = await rendered();
    await source.query(`
      CREATE TABLE usage_events_2020_01 PARTITION OF usage_events FOR VALUES FROM ('2020-01-01 00:00Z') TO ('2020-02-01 00:00Z')`);
    expect(await rendered()).toBe(before);
  });

  it.each([
    ['a column', 'ALTER TABLE apps ADD COLUMN more text'],
    ['a default', "ALTER TABLE apps ALTER COLUMN name SET DEFAULT 'x'"],
    ['a column that may be null', 'ALTER TABLE apps ALTER COLUMN name DROP NOT NULL'],
    ['an index', 'CREATE INDEX apps_more_idx ON apps (name)'],
    ['a check', "ALTER TABLE apps ADD CONSTRAINT apps_more_check CHECK (name <> 'x')"],
    ['a foreign key', 'ALTER TABLE audit_events ADD FOREIGN KEY (app_id) REFERENCES apps'],
  ])('%s that a migration adds → another document', async (_name, sql) => {
    const before = await rendered();
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query(sql);
      expect(renderSchema(await readSchema(runner), TABLE_AREAS)).not.toBe(before);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  });
});

describe('withMigratedDatabase', () => {
  it('work that is done, work that fails → the same document, and no database is left behind', async () => {
    const environment = loadEnvironment({ DATABASE_URL: process.env.TEST_ADMIN_URL });
    const names: string[] = [];
    const tables = await withMigratedDatabase(environment, async (migrated) => {
      names.push(await nameOf(migrated));
      return readSchema(migrated);
    });
    const failure = withMigratedDatabase(environment, async (migrated) => {
      names.push(await nameOf(migrated));
      throw new Error('work failed');
    });
    await expect(failure).rejects.toThrow('work failed');
    expect(renderSchema(tables, TABLE_AREAS)).toBe(await rendered());
    expect(names).toEqual([expect.stringMatching(/^gateway_docs_/), expect.stringMatching(/^gateway_docs_/)]);
    expect(await source.query('SELECT datname FROM pg_database WHERE datname = ANY ($1)', [names])).toEqual([]);
  });
});
