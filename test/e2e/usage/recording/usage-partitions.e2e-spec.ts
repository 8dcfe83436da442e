import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { arraysOfTexts } from '../../../../src/usage/recording/event/event-arrays.js';
import { UsagePartitionsRepository } from '../../../../src/usage/recording/event/usage-partitions.repository.js';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';
import { storeEvents } from '../../../../src/usage/recording/store-events.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { anEventOf, arraysOf, type EventMembers } from '../../../support/usage/recording/usage-events.js';
import { SUMS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';

let url: string;
let one: DataSource;
let other: DataSource;

beforeAll(async () => {
  url = await freshDatabase();
  const connect = () =>
    createDataSource({ url: new Secret(url), applicationName: 'test', poolSize: 3, entities: [], migrations: [] });
  [one, other] = [await connect().initialize(), await connect().initialize()];
});

afterAll(async () => {
  await Promise.all([one, other].map((db) => db.destroy()));
  await dropDatabase(url);
});

const stored = { app_id: 'notes-abc123', organization_id: 'org-1' };

const EACH = 100;

/** As the writer does: rejected events are sent again. */
async function storeStubbornly(db: DataSource, event: EventMembers, rejected: string[]): Promise<void> {
  const writes = new UsageWritesRepository(db);
  const text = JSON.stringify(anEventOf(event));
  const reject = (refused: string) => void rejected.push(refused);
  for (let failures = 0; ; failures++) {
    try {
      return await storeEvents([text], { insert: (some) => writes.insert(arraysOfTexts(some)), reject });
    } catch (error) {
      if (failures === 5) throw error;
    }
  }
}

/** The partitions of events, in the order of their ids. */
async function placesOf(appId: string): Promise<string[]> {
  const rows = await one.query<{ place: string }[]>(
    'SELECT tableoid::regclass::text AS place FROM usage_events WHERE app_id = $1 ORDER BY id',
    [appId],
  );
  return rows.map((row) => row.place);
}

describe('partitions of usage events', () => {
  it('month without a partition → its events are still stored, and move once it exists; others stay', async () => {
    const times = [
      '2031-01-31T23:59:59.999Z',
      '2031-02-01T00:00:00Z',
      '2031-02-28T23:59:59.999Z',
      '2031-03-01T00:00:00Z',
    ];
    await new UsageWritesRepository(one).insert(arraysOf(times.map((at) => anEventOf({ ...stored, at }))));
    expect(await placesOf(stored.app_id)).toEqual(times.map(() => 'usage_events_default'));
    const before = await one.query('SELECT * FROM usage_events ORDER BY id');
    await new UsagePartitionsRepository(one).create('2031-02');
    const [outside, inside] = ['usage_events_default', 'usage_events_2031_02'];
    expect(await placesOf(stored.app_id)).toEqual([outside, inside, inside, outside]);
    expect(await one.query('SELECT * FROM usage_events ORDER BY id')).toEqual(before);
  });

  it('two instances at once while both store → one partition, and every event once', async () => {
    const app_id = 'busy-abc123';
    const rejected: string[] = [];
    const storeMany = async (db: DataSource) => {
      for (let at = 0; at < EACH; at++)
        await storeStubbornly(db, { ...stored, app_id, at: '2032-06-15T12:00:00Z' }, rejected);
    };
    const create = (db: DataSource) => new UsagePartitionsRepository(db).create('2032-06');
    await Promise.all([storeMany(one), storeMany(other), create(one), create(other)]);
    await create(other);
    expect(rejected).toEqual([]);
    expect(await placesOf(app_id)).toEqual(Array.from({ length: 2 * EACH }, () => 'usage_events_2032_06'));
    for (const sql of SUMS_OUT_OF_STEP) expect(await one.query(sql)).toEqual([]);
  });

  it('partition created later → same indexes and constraints as the others', async () => {
    await new UsagePartitionsRepository(one).create('2033-12');
    const indexesOf = async (table: string) => {
      const rows = await one.query<{ text: string }[]>(
        'SELECT pg_get_indexdef(indexrelid) AS text FROM pg_index WHERE indrelid = $1::regclass',
        [table],
      );
      return rows.map(({ text }) => text.replace(/INDEX .* USING/, 'INDEX USING')).sort();
    };
    const columnsOf = (table: string) =>
      one.query(
        `SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns
         WHERE table_name = $1 ORDER BY 1`,
        [table],
      );
    const [made, first] = ['usage_events_2033_12', 'usage_events_default'];
    expect(await indexesOf(made)).toEqual(await indexesOf(first));
    expect(await columnsOf(made)).toEqual(await columnsOf(first));
    expect(await indexesOf(made)).toHaveLength(9);
  });

  it('locked by others → times out, changes nothing, and succeeds later', async () => {
    const partitions = new UsagePartitionsRepository(other);
    await one.transaction(async (tx) => {
      await tx.query('SELECT FROM usage_events LIMIT 1');
      await expect(partitions.create('2034-01')).rejects.toMatchObject({ code: '55P03' });
    });
    expect(await one.query("SELECT to_regclass('usage_events_2034_01') AS found")).toEqual([{ found: null }]);
    await partitions.create('2034-01');
    expect(await one.query("SELECT to_regclass('usage_events_2034_01') AS found")).toEqual([
      { found: 'usage_events_2034_01' },
    ]);
  });
});
