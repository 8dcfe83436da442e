import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { UsageRepository } from '../../../../src/usage/recording/usage.repository.js';
import type { UsageEventFilter, UsageEventRow } from '../../../../src/usage/recording/usage-rows.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { type EventMembers, storeEvents } from '../../../support/usage/recording/usage-events.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 150);
const EVENTS = 300;
const OWN = { app_id: 'notes-abc123', organization_id: 'org-1' };
const DAY_MS = 24 * 60 * 60 * 1_000;

let url: string;
let db: DataSource;
let all: UsageEventRow[];

beforeAll(async () => {
  url = await freshDatabase();
  const options = { url: new Secret(url), applicationName: 'test', poolSize: 2, entities: [], migrations: [] };
  db = await createDataSource(options).initialize();
  await storeEvents(db, ...Array.from({ length: EVENTS }, (_none, at) => anEvent(at)));
  await storeEvents(db, { ...OWN, app_id: 'other-abc123', at: new Date().toISOString() });
  all = await db.query('SELECT * FROM usage_events WHERE app_id = $1 ORDER BY id DESC', [OWN.app_id]);
});

afterAll(async () => {
  await db.destroy();
  await dropDatabase(url);
});

/** Of many kinds, in several months, and stored in no order of time. */
function anEvent(at: number): EventMembers {
  const event = {
    ...OWN,
    at: new Date(Date.now() - ((at * 37) % 150) * DAY_MS).toISOString(),
    model: at === 3 ? 'rare' : `m-${at % 7}`,
    provider_type: ['openai', 'anthropic', 'gemini'][at % 3] ?? '',
    status: at === 200 ? 'blocked_billing' : (['ok', 'ok', 'provider_error', 'blocked_user'][at % 5] ?? 'ok'),
  };
  if (at % 4 === 0) return event;
  return { ...event, user_id: at % 4 === 1 ? 'ann' : `user-${at % 29}` };
}

/** The same without using an index. */
function expected({ limit, beforeId, statuses, provider, user, model }: UsageEventFilter): string[] {
  return all
    .filter((event) => beforeId === undefined || Number(event.id) < beforeId)
    .filter((event) => statuses === undefined || statuses.includes(event.status))
    .filter((event) => provider === undefined || event.provider_type === provider)
    .filter((event) => user === undefined || event.user_id === user)
    .filter((event) => model === undefined || event.model === model)
    .slice(0, limit)
    .map((event) => event.id);
}

const sometimes = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });

const filters: fc.Arbitrary<UsageEventFilter> = fc.record({
  limit: fc.integer({ min: 1, max: 60 }),
  beforeId: fc.option(fc.integer({ min: 1, max: EVENTS + 2 }), { nil: undefined }),
  statuses: sometimes(['ok'], ['provider_error'], ['blocked_user', 'blocked_billing'], ['nothing'], []),
  provider: sometimes('openai', 'anthropic', 'gemini', 'mistral'),
  user: sometimes('ann', 'user-1', 'user-2', 'nobody', ''),
  model: sometimes('m-0', 'm-1', 'm-6', 'rare', 'none', ''),
});

describe('pages of events', () => {
  it('any filters together, from any event on → the newest matching events, by id', async () => {
    const usage = new UsageRepository(db);
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const page = await usage.listEvents(OWN.organization_id, OWN.app_id, filter);
        expect(page.map((event) => event.id)).toEqual(expected(filter));
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 60_000);

  it('page → events with all stored data', async () => {
    const usage = new UsageRepository(db);
    expect(await usage.listEvents('org-1', OWN.app_id, { limit: 200 })).toEqual(all.slice(0, 200));
    expect(await usage.listEvents('org-1', OWN.app_id, { limit: 1, model: 'rare' })).toEqual(
      all.filter((event) => event.model === 'rare'),
    );
  });

  it.each([{}, { statuses: ['ok'] }, { user: 'ann' }])('of another account, %j → nothing', async (filter) => {
    const usage = new UsageRepository(db);
    expect(await usage.listEvents('org-2', OWN.app_id, { limit: 10, ...filter })).toEqual([]);
  });
});
