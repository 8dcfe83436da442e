import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import type { AppRef } from '../../../../src/app-directory/app.entity.js';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';
import { UsageRepository } from '../../../../src/usage/recording/usage.repository.js';
import { USAGE_STATUSES } from '../../../../src/usage/recording/usage-event.js';
import { UserUsage } from '../../../../src/usage/reports/user-usage.service.js';
import { FakeClock } from '../../../support/clock.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { arraysOf } from '../../../support/usage/recording/usage-events.js';
import { SUMS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 40);
/** The last day of a month and the first two of the next are all within reach of an event. */
const NEAR_MIDNIGHT_MS = Date.UTC(2025, 10, 30);
const DAY_MS = 24 * 60 * 60 * 1000;
const REFUSED = 'blocked_app_rate';

let url: string;
/** Two instances that store, and connections that are never broken. */
let one: DataSource;
let other: DataSource;
let reader: DataSource;
let ids = 0;
let runs = 0;

beforeAll(async () => {
  url = await freshDatabase();
  const connect = (applicationName: string) =>
    createDataSource({ url: new Secret(url), applicationName, poolSize: 1, entities: [], migrations: [] }).initialize();
  [one, other, reader] = [await connect('instance'), await connect('instance'), await connect('reader')];
});

afterAll(async () => {
  await Promise.all([one, other, reader].map((db) => db.destroy()));
  await dropDatabase(url);
});

interface StoredEvent {
  readonly app_id: string;
  readonly user_id?: string;
  readonly status: string;
  readonly created_at_ms: number;
  readonly requests?: number;
  readonly requests_before?: number;
  readonly [member: string]: string | number | undefined;
}

function anEvent(event: StoredEvent & { readonly event_id?: string }) {
  const kind = { organization_id: 'org-1', provider_type: 'openai', model: 'm', route: 'r' };
  return { event_id: `event-${++ids}`, ...kind, ...event };
}

/** Stores as the writer does: failed batches are retried. */
async function storeStubbornly(db: DataSource, rows: readonly object[], how: 'insert' | 'countRefusals' = 'insert') {
  const writes = new UsageWritesRepository(db);
  for (let failures = 0; ; failures++) {
    try {
      await writes[how](arraysOf(rows));
      return;
    } catch (error) {
      if (failures === 20) throw error;
    }
  }
}

async function sumsOutOfStep(): Promise<unknown[]> {
  const found: unknown[][] = [];
  for (const sql of SUMS_OUT_OF_STEP) found.push(await reader.query<unknown[]>(sql));
  return found.flat();
}

/** Ends whatever the two instances are doing, as a restart of Postgres would. */
function breakConnections(): Promise<unknown> {
  return reader.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'instance' AND datname = current_database()`,
  );
}

/** Texts that are easily confused. */
const text = fc.constantFrom('', '-', '1:-', 'a', 'a-', '2:a-', '\\', '\\x00', '\\\\', 'ä😀', "'\n");
/** As long as texts from outside may be: 4 bytes a character, and a path that no index could hold. */
const longText = fc.string({ unit: 'grapheme', minLength: 100, maxLength: 100, size: 'max' });
const longPath = fc.string({ unit: 'grapheme', minLength: 1_000, maxLength: 1_000, size: 'max' });
const orRarely = (usual: fc.Arbitrary<string>, rare: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: rare });
const absentOr = <T>(present: fc.Arbitrary<T>) => fc.option(present, { nil: undefined });

const event = fc.record({
  app_id: fc.constantFrom('notes-abc123', 'draws-abc123'),
  user_id: fc.constantFrom('ann', 'bob', 'cleo', 'dan', undefined),
  status: fc.constantFrom(...USAGE_STATUSES),
  created_at_ms: fc.integer({ min: 0, max: 3 * DAY_MS }).map((ms) => NEAR_MIDNIGHT_MS + ms),
  model: orRarely(text, longText),
  route: orRarely(text, longPath),
  provider_slug: absentOr(text),
  provider_gateway_id: absentOr(fc.constant('gateway-1')),
  credential_source: absentOr(fc.constantFrom('direct', 'byok')),
  model_author: absentOr(orRarely(text, longText)),
  endpoint_slug: absentOr(fc.constantFrom('chat', 'draw')),
  app_version: absentOr(orRarely(text, longText)),
  cost_source: absentOr(fc.constantFrom('computed', 'unresolved')),
  api_key_id: absentOr(fc.constantFrom('key-1', 'key-2')),
  latency_ms: absentOr(fc.nat({ max: 100_000 })),
  duration_ms: absentOr(fc.nat({ max: 1_000_000 })),
  input_tokens: fc.nat(),
  cached_input_tokens: fc.nat(),
  output_tokens: fc.nat({ max: 5 }),
  cost_nano_usd: fc.maxSafeNat(),
  charged_nano_usd: absentOr(fc.maxSafeNat()),
});

describe('sums by day, by user and day, by user and month, consistent with the events', () => {
  it('random batches, repeated and overlapping, from two instances whose connections break → the exact sums', async () => {
    const plan = fc.record({
      events: fc.array(event, { minLength: 1, maxLength: 30 }),
      /** Which events each of the two stores in a separate statement, as places in the list of them. */
      batches: fc.array(fc.tuple(fc.array(fc.nat(), { minLength: 1, maxLength: 40 }), fc.boolean()), { maxLength: 8 }),
      breaks: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ events, batches, breaks }) => {
        const run = ++runs;
        const rows = events.map((fields) => anEvent({ ...fields, app_id: `${fields.app_id}-${run}` }));
        const all = rows.map((_row, place) => place);
        const chosen = (places: readonly number[]) => places.flatMap((place) => rows[place % rows.length] ?? []);
        const storeAll = async (db: DataSource, mine: boolean) => {
          for (const [places, isMine] of batches) if (isMine === mine) await storeStubbornly(db, chosen(places));
          await storeStubbornly(db, chosen(mine ? all : all.toReversed()));
        };
        await Promise.all([storeAll(one, true), storeAll(other, false), breaks ? breakConnections() : undefined]);
        expect(await sumsOutOfStep()).toEqual([]);
        const [{ stored }] = await reader.query(
          'SELECT count(*)::int AS stored FROM usage_events WHERE event_id = ANY($1)',
          [rows.map((row) => row.event_id)],
        );
        expect(stored).toBe(rows.length);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 60_000);

  it('counts of refusals, late and repeated on another connection → each counts once', async () => {
    const plan = fc.record({
      refused: fc.array(event, { minLength: 1, maxLength: 4 }),
      raises: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 6 }),
      /** The earlier counts that are repeated meanwhile. */
      echoes: fc.array(fc.nat(), { maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ refused, raises, echoes }) => {
        const rows = refused.map(({ app_id, user_id, created_at_ms }) =>
          anEvent({ app_id, user_id, created_at_ms, status: REFUSED }),
        );
        const sent: object[][] = [];
        let stored = 0;
        for (const raise of raises) {
          const counts = { requests_before: stored, requests: stored + raise };
          stored = counts.requests;
          sent.push(rows.map((row) => ({ ...row, ...counts })));
          const again = echoes.flatMap((echo) => [sent[echo % sent.length] ?? []]);
          const repeat = async () => {
            for (const late of again) await storeStubbornly(other, late, 'countRefusals');
          };
          await Promise.all([storeStubbornly(one, sent.at(-1) ?? [], 'countRefusals'), repeat()]);
        }
        expect(await sumsOutOfStep()).toEqual([]);
        const counts = await reader.query('SELECT requests FROM usage_events WHERE event_id = ANY($1)', [
          rows.map((row) => row.event_id),
        ]);
        expect(counts).toEqual(rows.map(() => ({ requests: stored })));
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 60_000);

  it('two instances store for the same users in opposite orders at once → neither is a deadlock victim', async () => {
    const busy = { app_id: 'busy-abc123', status: 'ok', created_at_ms: NEAR_MIDNIGHT_MS };
    const rows = (count: number) =>
      Array.from({ length: count }, (_none, place) => anEvent({ ...busy, user_id: `user-${place}` }));
    for (let round = 0; round < 20; round++) {
      await Promise.all([
        new UsageWritesRepository(one).insert(arraysOf(rows(150))),
        new UsageWritesRepository(other).insert(arraysOf(rows(400).toReversed())),
      ]);
    }
    expect(await sumsOutOfStep()).toEqual([]);
  });

  it('huge counts, repeatedly → stored, and exact beyond a bigint', async () => {
    const huge = { app_id: 'huge-abc123', user_id: 'ann', status: 'ok', created_at_ms: NEAR_MIDNIGHT_MS };
    for (let batch = 0; batch < 3; batch++) {
      const rows = Array.from({ length: 500 }, () => anEvent({ ...huge, input_tokens: Number.MAX_SAFE_INTEGER }));
      await storeStubbornly(one, rows);
    }
    expect(await sumsOutOfStep()).toEqual([]);
  });
});

describe('usage of a user', () => {
  const app: AppRef = { id: 'used-abc123', organizationId: 'org-1' };
  const today = Date.UTC(2025, 11, 1, 12);
  const usage = () => new UserUsage(new UsageRepository(reader), new FakeClock(today));
  const store = (...rows: Partial<StoredEvent>[]) =>
    new UsageWritesRepository(reader).insert(
      arraysOf(
        rows.map((row) => anEvent({ app_id: app.id, user_id: 'ann', status: 'ok', created_at_ms: today, ...row })),
      ),
    );

  beforeAll(() =>
    store(
      { cost_nano_usd: 1_500_000_000, input_tokens: 7 },
      { created_at_ms: today - 11 * 60 * 60 * 1000, status: 'provider_error' },
      { status: 'blocked_user' },
      { created_at_ms: today - DAY_MS, cost_nano_usd: 9 },
      { user_id: 'bob', created_at_ms: today - 13 * 60 * 60 * 1000, output_tokens: 3, cached_input_tokens: 2 },
    ),
  );

  it('requests of the current UTC day without refusals, spend of the current UTC day, week and month', async () => {
    expect(await usage().currentOf(app, 'ann')).toEqual({
      requestsToday: 2,
      tokensToday: 0,
      ...{ dayCostUsd: 1.5, weekCostUsd: 1.5 },
      monthCostUsd: 1.5,
      monthEstimatedCostUsd: 0,
    });
  });

  it.each([
    ['active last month only', 'bob', app],
    ['never seen', 'cleo', app],
    ['of another account', 'ann', { ...app, organizationId: 'org-2' }],
    ['of another application', 'ann', { ...app, id: 'other-abc123' }],
  ])('user %s → zeros', async (_name, userId, whose) => {
    expect(await usage().currentOf(whose, userId)).toEqual({
      requestsToday: 0,
      tokensToday: 0,
      ...{ dayCostUsd: 0, weekCostUsd: 0 },
      monthCostUsd: 0,
      monthEstimatedCostUsd: 0,
    });
  });

  it('the day is over → its requests no longer count, its spend does', async () => {
    const tomorrow = new UserUsage(new UsageRepository(reader), new FakeClock(today + DAY_MS));
    expect(await tomorrow.currentOf(app, 'ann')).toEqual({
      requestsToday: 0,
      tokensToday: 0,
      ...{ dayCostUsd: 0, weekCostUsd: 1.5 },
      monthCostUsd: 1.5,
      monthEstimatedCostUsd: 0,
    });
  });

  it('totals of a month → only of users with usage, including refusals and errors', async () => {
    const none = { requests: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 };
    const nothing = { ...none, cost_usd: 0, estimated_cost_usd: 0, errors: 0, blocked: 0 };
    expect(await usage().totalsOf(app, ['ann', 'bob', 'cleo'], '2025-12')).toEqual(
      new Map([['ann', { ...nothing, requests: 3, input_tokens: 7, cost_usd: 1.5, errors: 1, blocked: 1 }]]),
    );
    expect(await usage().totalsOf(app, ['bob', 'cleo'], '2025-11')).toEqual(
      new Map([['bob', { ...nothing, requests: 1, output_tokens: 3, cached_input_tokens: 2 }]]),
    );
    expect(await usage().totalsOf(app, [], '2025-12')).toEqual(new Map());
    expect(await usage().totalsOf({ ...app, organizationId: 'org-2' }, ['ann'], '2025-12')).toEqual(new Map());
  });

  it('failures by day → both days inclusive, UTC, every row counts its requests', async () => {
    const firstMs = Date.UTC(2025, 9, 1);
    const row = (created_at_ms: number, status: string) => ({ created_at_ms, status });
    await store(
      row(firstMs - 1, 'provider_error'),
      { ...row(firstMs, REFUSED), requests: 5 },
      row(firstMs, 'provider_error'),
      { ...row(firstMs + 1, REFUSED), user_id: 'bob' },
      row(firstMs, 'ok'),
      row(firstMs + 2 * DAY_MS - 1, 'blocked_user'),
      row(firstMs + 2 * DAY_MS, 'blocked_user'),
    );
    expect(await usage().failuresByDay(app, '2025-10-01', '2025-10-02')).toEqual([
      { date: '2025-10-01', status: REFUSED, count: 6 },
      { date: '2025-10-01', status: 'provider_error', count: 1 },
      { date: '2025-10-02', status: 'blocked_user', count: 1 },
    ]);
    expect(await usage().failuresByDay({ ...app, organizationId: 'org-2' }, '2025-10-01', '2025-10-02')).toEqual([]);
  });
});
