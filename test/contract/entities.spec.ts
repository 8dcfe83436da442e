import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { readSchema } from '../../src/commands/documentation/schema.repository.js';
import type { SchemaTable } from '../../src/commands/documentation/schema.rules.js';
import { ENTITIES } from '../../src/entities.js';
import { dropDatabase, emptyDatabase, freshDatabase } from '../support/platform/database.js';

/** What an entity cannot say: expressions, collations and directions in an index, and how a column is generated. */
const UNSAID = new Set([
  'identities_email_key',
  'apps_organization_idx',
  'app_keys_app_idx',
  'app_users_recent_idx',
  'audit_events_day_idx',
  'device_keys_user_idx',
]);
const GENERATED = new Set(['app_users.recent_at']);

let urls: readonly string[];
let migrated: DataSource;
let described: DataSource;

beforeAll(async () => {
  urls = await Promise.all([freshDatabase(), emptyDatabase()]);
  const [migratedUrl, describedUrl] = urls;
  const options = { type: 'postgres', poolSize: 1, installExtensions: false } as const;
  migrated = await new DataSource({ ...options, url: migratedUrl, entities: [...ENTITIES] }).initialize();
  described = await new DataSource({ ...options, url: describedUrl, entities: [...ENTITIES] }).initialize();
  await described.synchronize();
}, 60_000);

afterAll(async () => {
  await Promise.all([migrated?.destroy(), described?.destroy()]);
  for (const url of urls) await dropDatabase(url);
});

async function tablesOf(source: DataSource): Promise<Record<string, unknown>> {
  const names = new Set(source.entityMetadatas.map(({ tableName }) => tableName));
  const tables = (await readSchema(source)).filter(({ name }) => names.has(name));
  return Object.fromEntries(tables.map((table) => [table.name, comparable(table)]));
}

/** Columns in any order; without what an entity cannot say. */
function comparable({ name: table, columns, objects }: SchemaTable): object {
  return {
    columns: columns
      .map((column) => {
        const isGenerated = GENERATED.has(`${table}.${column.name}`);
        return isGenerated ? { name: column.name, type: column.type, isNullable: column.isNullable } : column;
      })
      .toSorted((one, other) => one.name.localeCompare(other.name)),
    objects: objects.filter(({ name }) => !UNSAID.has(name)).map(({ name, definition }) => ({ name, definition })),
  };
}

describe('entities', () => {
  it('a database created from them → the same tables as the migrations create', async () => {
    const expected = await tablesOf(migrated);
    expect(Object.keys(expected)).toHaveLength(ENTITIES.length);
    expect(await tablesOf(described)).toEqual(expected);
  });

  it('indexes that an entity only names → created by the migrations', async () => {
    const named = (await readSchema(migrated)).flatMap(({ objects }) => objects.map(({ name }) => name));
    expect([...UNSAID].filter((name) => !named.includes(name))).toEqual([]);
  });
});
