import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { Log } from '../../../src/common/log/log.js';
import { Secret } from '../../../src/common/log/secret.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import * as expired from '../../../src/retention/expired-rows.js';
import { Retention } from '../../../src/retention/retention.service.js';
import { RetentionSessions } from '../../../src/retention/retention-session.repository.js';
import { UsageRetentionRepository } from '../../../src/retention/usage-retention.repository.js';
import { UsageRetention } from '../../../src/retention/usage-retention.service.js';
import { UsageWritesRepository } from '../../../src/usage/recording/event/usage-writes.repository.js';
import { FakeClock, sharedClockOf } from '../../support/clock.js';
import { type Break, BreakingSessions } from '../../support/platform/breaking-sessions.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import {
  expectedTotals,
  keptTotals,
  makePartitions,
  type OldEvent,
  storeUsage,
  usageRows,
} from '../../support/usage/recording/old-usage.js';
import { arraysOf } from '../../support/usage/recording/usage-events.js';
import { APPS_OUT_OF_STEP } from '../../support/usage/recording/usage-sums.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 25);
/** Events before 2025-03-01 are deleted, days before 2024-04-01 become months. */
const TODAY = '2025-05-30';
const FIRST_EVENT_DAY = '2025-03-01';
const FIRST_DAY = '2024-04-01';
const DAYS = ['2024-02-29', '2024-03-01', '2024-03-31', FIRST_DAY, '2024-12-31', '2025-01-01', '2025-02-28'];
const KEPT_DAYS = [FIRST_EVENT_DAY, '2025-03-31', TODAY];
const MONTHS = ['2024-03', '2024-12', '2025-01', '2025-02', '2025-03', '2025-05'];
const NEVER = new AbortController().signal;

/** So that a handful of rows are many batches. */
class SmallBatches extends UsageRetention {
  constructor(protected override readonly atOnce = 2) {
    super(new UsageRetentionRepository());
  }
}

let url: string;
/** Two instances, and a connection that is never broken. */
let one: DataSource;
let other: DataSource;
let reader: DataSource;
let runs = 0;

beforeAll(async () => {
  url = await freshDatabase();
  const connect = (applicationName: string) =>
    createDataSource({ url: new Secret(url), applicationName, poolSize: 2, entities: [], migrations: [] }).initialize();
  [one, other, reader] = [await connect('one'), await connect('other'), await connect('reader')];
});

afterAll(async () => {
  await Promise.all([one, other, reader].map((db) => db.destroy()));
  await dropDatabase(url);
});

function retentionOn(
  db: DataSource,
  sessions = new RetentionSessions(db),
  lines: Record<string, unknown>[] = [],
  usage = new SmallBatches(),
) {
  const clock = new FakeClock(Date.parse(`${TODAY}T03:17:00Z`));
  return new Retention(
    sessions,
    {
      inOrder: [
        expired.PRUNE_AUTH_EVENTS,
        expired.PRUNE_CHALLENGES,
        expired.PRUNE_DEVICE_KEYS,
        ...usage.steps,
        expired.PRUNE_BUDGETS,
        expired.PRUNE_LIMIT_COUNTS,
        expired.PRUNE_USERS,
        expired.PRUNE_RECEIPTS,
        expired.PRUNE_INVITATIONS,
        expired.PRUNE_AUDIT_EVENTS,
        expired.PRUNE_SESSIONS,
        expired.PRUNE_CLI_OPERATIONS,
        expired.PRUNE_OAUTH,
        expired.PRUNE_MANAGEMENT_KEYS,
      ],
    },
    sharedClockOf(clock),
    new Log(clock, 'debug', (line) => lines.push(JSON.parse(line))),
  );
}

/** The rows besides totals: none may be deleted before they expire, or stay afterwards. */
async function rest(): Promise<Record<string, unknown>> {
  const [row] = await reader.query(
    `SELECT (SELECT count(*)::int FROM usage_events WHERE created_at < $1::date) AS "oldEvents",
       (SELECT count(*)::int FROM usage_days WHERE day < $1 AND num_nonnulls(provider_slug, provider_gateway_id,
         credential_source, model_author, route, endpoint_slug, app_version, cost_source) > 0) AS "fineDays",
       (SELECT count(*)::int FROM usage_user_days WHERE day < $1) AS "oldUserDays",
       (SELECT count(*)::int FROM usage_key_days WHERE day < $1) AS "oldKeyDays",
       (SELECT count(*)::int FROM usage_latencies WHERE day < $1) AS "oldLatencies",
       (SELECT count(*)::int FROM usage_user_months WHERE last_at < $1::date) AS "oldUserMonths",
       (SELECT count(*)::int FROM budget_periods WHERE scope = 'user'
         AND period_start + CASE window_name WHEN 'week' THEN interval '6 days' ELSE interval '0' END < date_trunc('month', $1::timestamp)) AS "oldUserBudgets",
       (SELECT count(*)::int FROM usage_days WHERE day < $2) AS "oldDays",
       (SELECT count(*)::int FROM usage_months WHERE month >= $2) AS "earlyMonths",
       (SELECT count(*)::int - count(DISTINCT (organization_id, month, app_id))::int FROM usage_app_months)
         AS "spreadMonths",
       (SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'usage_events'::regclass
         AND inhrelid::regclass::text < 'usage_events_2025_03') AS "oldPartitions"`,
    [FIRST_EVENT_DAY, FIRST_DAY],
  );
  return row;
}

const NOTHING_OLD = {
  ...{ oldEvents: 0, fineDays: 0, oldUserDays: 0, oldKeyDays: 0, oldLatencies: 0, oldUserMonths: 0, oldUserBudgets: 0 },
  ...{ oldDays: 0, earlyMonths: 0, spreadMonths: 0, oldPartitions: 0 },
};

/** Everything that must stay unchanged, row by row. */
function recent(): Promise<unknown> {
  return reader.query(
    `SELECT 'event' AS kind, to_jsonb(event) AS kept FROM usage_events event WHERE created_at >= $1::date
     UNION ALL SELECT 'day', to_jsonb(day) FROM usage_days day WHERE day >= $1
     UNION ALL SELECT 'user day', to_jsonb(day) FROM usage_user_days day WHERE day >= $1
     UNION ALL SELECT 'key day', to_jsonb(day) FROM usage_key_days day WHERE day >= $1
     UNION ALL SELECT 'latency', to_jsonb(day) FROM usage_latencies day WHERE day >= $1
     UNION ALL SELECT 'user month', to_jsonb(month) FROM usage_user_months month WHERE last_at >= $1::date
     UNION ALL SELECT 'budget', to_jsonb(spent) FROM budget_periods spent
       WHERE period_start >= $2 AND (scope = 'app' OR period_start >= $1) ORDER BY 1, 2`,
    [FIRST_EVENT_DAY, FIRST_DAY],
  );
}

const event = fc.record({
  app: fc.constantFrom('notes', 'draws'),
  day: fc.constantFrom(...DAYS, ...DAYS, ...KEPT_DAYS),
  provider_type: fc.constantFrom('openai', 'openai', 'openai', 'gemini'),
  model: fc.constantFrom('a', 'a', 'a', 'b'),
  status: fc.constantFrom('ok', 'ok', 'provider_error'),
  user_id: fc.constantFrom('ann', 'bob', undefined),
  provider_slug: fc.constantFrom('p', undefined),
  endpoint_slug: fc.constantFrom('e', 'f', undefined),
  cost_source: fc.constantFrom('computed', 'reported', 'unresolved', undefined),
  input_tokens: fc.nat(),
  output_tokens: fc.nat({ max: 9 }),
  cost_nano_usd: fc.maxSafeNat(),
});
const events = (maxLength: number) => fc.array(event, { minLength: 1, maxLength });
const aBreak = fc.record({ at: fc.nat({ max: 60 }), how: fc.constantFrom<Break['how'][]>('before', 'after', 'cut') });

describe('old usage', () => {
  afterEach(async () => {
    expect(await reader.query(APPS_OUT_OF_STEP)).toEqual([]);
  });

  it('random histories, runs that are interrupted at random statements, late events → every total exact at all times', async () => {
    const plan = fc.record({ history: events(50), late: events(6), breaks: fc.array(aBreak, { maxLength: 6 }) });
    await fc.assert(
      fc.asyncProperty(plan, async ({ history, late, breaks }) => {
        const ofRun = ({ app, ...fields }: (typeof history)[number]): OldEvent => ({
          ...fields,
          app_id: `${app}-${runs}`,
        });
        runs++;
        await makePartitions(reader, MONTHS);
        const rows = usageRows(history.map(ofRun));
        const lateRows = usageRows(late.map(ofRun));
        const before = await keptTotals(reader);
        await storeUsage(reader, rows);
        const young = await recent();
        for (const broken of breaks) {
          await retentionOn(one, new BreakingSessions(one, reader, broken)).run(NEVER);
          expect(await keptTotals(reader)).toEqual({ ...before, ...expectedTotals(rows) });
          expect(await recent()).toEqual(young);
        }
        await Promise.all([storeUsage(other, lateRows), retentionOn(one).run(NEVER)]);
        const expected = { ...before, ...expectedTotals([...rows, ...lateRows]) };
        expect(await keptTotals(reader)).toEqual(expected);
        const untouched = await recent();
        expect(await retentionOn(one).run(NEVER)).toBe('done');
        expect(await keptTotals(reader)).toEqual(expected);
        expect(await rest()).toEqual(NOTHING_OLD);
        expect(await recent()).toEqual(untouched);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  }, 120_000);

  it('two instances at the same rows at once, without the lock → each row counts once', async () => {
    for (let round = 0; round < 10; round++) {
      await makePartitions(reader, MONTHS);
      const before = await keptTotals(reader);
      const rows = usageRows(
        Array.from({ length: 120 }, (_none, place) => ({
          ...{ app_id: `both-${round}`, day: DAYS[place % DAYS.length] ?? TODAY, model: `m${place % 3}` },
          ...{ user_id: `u${place % 5}`, route: `r${place % 4}`, cost_nano_usd: place },
        })),
      );
      await storeUsage(reader, rows);
      const fold = async (db: DataSource) => {
        const usage = new SmallBatches();
        await usage.compact(db.manager, FIRST_EVENT_DAY, NEVER);
        await usage.fold(db.manager, FIRST_DAY, NEVER);
        await usage.mergeAppMonths(db.manager, NEVER);
      };
      await Promise.allSettled([fold(one), fold(other)]);
      expect(await keptTotals(reader)).toEqual({ ...before, ...expectedTotals(rows) });
      expect(await retentionOn(one).run(NEVER)).toBe('done');
      expect(await keptTotals(reader)).toEqual({ ...before, ...expectedTotals(rows) });
      expect(await rest()).toEqual(NOTHING_OLD);
    }
  }, 60_000);

  it('current and late events are stored meanwhile → no statement of the writer fails, nothing is lost', async () => {
    const before = await keptTotals(reader);
    const writes = new UsageWritesRepository(other);
    const stored: object[] = [];
    let isOver = false;
    const store = async () => {
      while (!isOver) {
        const recent = Array.from({ length: 5 }, () => ({ app_id: 'busy', day: TODAY, user_id: 'bob' }));
        const rows = usageRows([...DAYS.map((day) => ({ app_id: 'busy', day, user_id: 'ann' })), ...recent]);
        await writes.insert(arraysOf(rows));
        stored.push(...rows);
      }
    };
    const writers = [store(), store()];
    for (let night = 0; night < 30; night++) {
      await makePartitions(reader, ['2023-01', '2023-02', '2023-03']);
      expect(await retentionOn(one, undefined, undefined, new SmallBatches(200)).run(NEVER)).toBe('done');
    }
    isOver = true;
    await Promise.all(writers);
    expect(stored.length).toBeGreaterThan(100);
    expect(await keptTotals(reader)).toEqual({ ...before, ...expectedTotals(stored) });
    expect(await retentionOn(one).run(NEVER)).toBe('done');
    expect(await keptTotals(reader)).toEqual({ ...before, ...expectedTotals(stored) });
    expect(await rest()).toEqual(NOTHING_OLD);
  }, 60_000);

  it('deleted rows → reported; run again → nothing left to delete', async () => {
    await makePartitions(reader, MONTHS);
    const days = ['2024-02-10', '2025-02-27', '2025-02-28', FIRST_EVENT_DAY];
    const same = { app_id: 'told', user_id: 'ann' };
    await storeUsage(
      reader,
      usageRows(
        days.flatMap((day) => [
          { ...same, day },
          { ...same, day, route: 's' },
        ]),
      ),
    );
    const lines: Record<string, unknown>[] = [];
    const sessions = new RetentionSessions(one);
    expect(await retentionOn(one, sessions, lines).run(NEVER)).toBe('done');
    const told = () => lines.splice(0).map(({ level: _level, timestamp: _timestamp, ...line }) => line);
    expect(told()).toEqual([
      { message: 'auth_events_pruned', events: 0 },
      { message: 'auth_challenges_pruned', challenges: 0 },
      { message: 'device_keys_pruned', keys: 0 },
      { message: 'usage_events_compacted', months: 4, events: 2, days: 6, userDays: 3, userMonths: 2 },
      { message: 'usage_rollup_folded', days: 1 },
      { message: 'usage_app_months_merged', rows: expect.any(Number) },
      { message: 'budget_periods_pruned', periods: 0, userPeriods: 0, minutes: 0, runs: 0 },
      { message: 'limit_counts_pruned', counts: 0 },
      { message: 'app_users_pruned', users: 0 },
      { message: 'creation_receipts_pruned', sealedAnswers: 0, receipts: 0 },
      { message: 'invitations_pruned', invitations: 0 },
      { message: 'audit_events_pruned', events: 0 },
      { message: 'sessions_pruned', sessions: 0 },
      { message: 'cli_operations_pruned', sealedKeys: 0, operations: 0 },
      { message: 'oauth_pruned', authorizations: 0, tokens: 0 },
      { message: 'management_keys_pruned', keys: 0 },
    ]);
    expect(await retentionOn(one, sessions, lines).run(NEVER)).toBe('done');
    expect(told().slice(3)).toEqual([
      { message: 'usage_events_compacted', months: 0, events: 0, days: 0, userDays: 0, userMonths: 0 },
      { message: 'usage_rollup_folded', days: 0 },
      { message: 'usage_app_months_merged', rows: 0 },
      { message: 'budget_periods_pruned', periods: 0, userPeriods: 0, minutes: 0, runs: 0 },
      { message: 'limit_counts_pruned', counts: 0 },
      { message: 'app_users_pruned', users: 0 },
      { message: 'creation_receipts_pruned', sealedAnswers: 0, receipts: 0 },
      { message: 'invitations_pruned', invitations: 0 },
      { message: 'audit_events_pruned', events: 0 },
      { message: 'sessions_pruned', sessions: 0 },
      { message: 'cli_operations_pruned', sealedKeys: 0, operations: 0 },
      { message: 'oauth_pruned', authorizations: 0, tokens: 0 },
      { message: 'management_keys_pruned', keys: 0 },
    ]);
  });

  it('a month under a long read → no lock wait; its events are deleted in batches, its partition the next night', async () => {
    await makePartitions(reader, MONTHS);
    await storeUsage(reader, usageRows([{ app_id: 'read', day: '2025-01-10' }]));
    const long = reader.createQueryRunner();
    await long.startTransaction();
    await long.query('SELECT count(*) FROM usage_events');
    const lines: Record<string, unknown>[] = [];
    expect(await retentionOn(one, new RetentionSessions(one), lines).run(NEVER)).toBe('done');
    expect(lines[3]).toMatchObject({ months: 0, events: 1 });
    await long.rollbackTransaction();
    await long.release();
    await retentionOn(one).run(NEVER);
    expect(await rest()).toEqual(NOTHING_OLD);
  });
});
