import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { UsageLedgerRepository } from '../../../../src/commands/ledger/usage-ledger.repository.js';
import { UsageLedger } from '../../../../src/commands/ledger/usage-ledger.service.js';
import { Secret } from '../../../../src/common/log/secret.js';
import { createDataSource } from '../../../../src/platform/database/data-source.js';
import { UsageWritesRepository } from '../../../../src/usage/recording/event/usage-writes.repository.js';
import { USAGE_STATUSES } from '../../../../src/usage/recording/usage-event.js';
import { FakeClock } from '../../../support/clock.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { anEventOf, arraysOf, storeEvents } from '../../../support/usage/recording/usage-events.js';
import { newManagementKey, testEnvironment } from '../../../support/world.js';

const PROGRAM = fileURLToPath(new URL('../../../../dist/src/commands/verify-ledger.js', import.meta.url));
const RUNS = Number(process.env.FUZZ_RUNS ?? 15);
const DAY_MS = 24 * 60 * 60 * 1000;
const TODAY_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const SUMS = [
  ...['usage_days', 'usage_user_days', 'usage_all_users_days', 'usage_user_months', 'usage_months', 'usage_app_months'],
  ...['usage_key_days', 'usage_latencies'],
];
/** Sums that change together with others. */
const FOLLOWING: Readonly<Record<string, string>> = {
  usage_days: 'usage_app_months',
  usage_user_days: 'usage_all_users_days',
};
const TABLES = ['usage_events', ...SUMS, 'budget_periods', 'budget_grants'];

let url: string;
let db: DataSource;
let ids = 0;

beforeAll(async () => {
  url = await freshDatabase();
  db = await createDataSource({
    ...{ url: new Secret(url), applicationName: 'test', poolSize: 4, entities: [], migrations: [] },
  }).initialize();
});

afterAll(async () => {
  await db.destroy();
  await dropDatabase(url);
});

beforeEach(() => db.query(`TRUNCATE ${TABLES.join(', ')}`));

function verify() {
  return new UsageLedger(new UsageLedgerRepository(db), new FakeClock(TODAY_MS + DAY_MS / 2)).verify();
}

const someText = fc.constantFrom(null, 'a', 'B', 'ä b', '');
const count = fc.integer({ min: 0, max: 5_000_000_000 });

/** Any event of two accounts; refusals count further ones later. */
const anyEvent = fc.record({
  organization_id: fc.constantFrom('org-1', 'org-2'),
  user_id: fc.constantFrom(null, 'ann', 'bob'),
  ago: fc.integer({ min: 0, max: 120 }),
  status: fc.constantFrom(...USAGE_STATUSES),
  model: fc.constantFrom('m-1', 'm-2'),
  provider_type: fc.constantFrom('openai', 'groq'),
  provider_slug: someText,
  provider_gateway_id: someText,
  credential_source: someText,
  model_author: someText,
  endpoint_slug: someText,
  app_version: someText,
  cost_source: fc.constantFrom(null, 'computed', 'reported', 'unresolved'),
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  cost_nano_usd: fc.maxSafeNat(),
  charged_nano_usd: fc.option(fc.maxSafeNat()),
});

const toRow = ({ ago, ...event }: { readonly ago: number; readonly organization_id: string }) =>
  anEventOf({ ...event, app_id: `app-of-${event.organization_id}`, created_at_ms: TODAY_MS - ago * DAY_MS });

/** One user's request, so that every table has a row. */
function storeOne(): Promise<void> {
  const members = { user_id: 'ann', input_tokens: 5, cost_nano_usd: 7, created_at_ms: TODAY_MS };
  return storeEvents(db, { organization_id: 'org-1', app_id: 'app-1', ...members });
}

describe('ledger', () => {
  it('any history, stored again and in parallel → every sum is the sum of its events', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyEvent, { minLength: 1, maxLength: 12 }), { maxLength: 6 }),
        async (batches) => {
          const writes = new UsageWritesRepository(db);
          const stored = batches.map((events) => events.map(toRow));
          await Promise.all([...stored, ...stored].map((rows) => writes.insert(arraysOf(rows))));
          const refusals = stored.flat().filter(({ status }) => status.startsWith('blocked_'));
          const raised = refusals.map((row) => ({ ...row, requests: 3 + (++ids % 5), requests_before: 1 }));
          await writes.countRefusals(arraysOf(raised));
          expect((await verify()).findings).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['usage_days', 'requests'],
    ['usage_days', 'cost_nano_usd'],
    ['usage_days', 'output_tokens'],
    ['usage_user_days', 'input_tokens'],
    ['usage_user_days', 'errors'],
    ['usage_user_days', 'blocked'],
    ['usage_all_users_days', 'requests'],
    ['usage_all_users_days', 'cost_nano_usd'],
    ['usage_user_months', 'cached_input_tokens'],
    ['usage_user_months', 'estimated_nano_usd'],
    ['usage_all_users_days', 'estimated_nano_usd'],
    ['usage_days', 'estimated_nano_usd'],
    ['usage_app_months', 'requests'],
    ['usage_app_months', 'blocked'],
    ['usage_app_months', 'estimated_nano_usd'],
    ['usage_user_months', 'cache_write_tokens'],
    ['usage_user_months', 'latest_day_requests'],
  ])('%s.%s is one too many → found, with both values', async (table, column) => {
    await storeOne();
    await db.query(`UPDATE ${table} SET ${column} = ${column} + 1`);
    const { findings } = await verify();
    const found = [table, FOLLOWING[table] ?? []]
      .flat()
      .map((name) => ({ organizationId: 'org-1', appId: 'app-1', table: name, column }));
    expect(findings).toMatchObject(found);
    expect(Number(findings[0]?.stored) - Number(findings[0]?.recomputed)).toBe(1);
  });

  it.each([
    ['first_at', "- interval '1 millisecond'"],
    ['last_at', "+ interval '1 millisecond'"],
    ['latest_day', '- 1'],
  ])('usage_user_months.%s is wrong → found', async (column, change) => {
    await storeOne();
    await db.query(`UPDATE usage_user_months SET ${column} = ${column} ${change}`);
    expect((await verify()).findings).toMatchObject([{ table: 'usage_user_months', column }]);
  });

  it('charged more than its cost → the charge counts as spent; one more → found, for the application and the user', async () => {
    const app = { organization_id: 'org-1', app_id: 'app-1', created_at_ms: TODAY_MS };
    await storeEvents(db, { ...app, user_id: 'ann', cost_source: 'unresolved', charged_nano_usd: 90 });
    const periods = await db.query(
      'SELECT subject, window_name AS window, spent_nano_usd AS spent, estimated_nano_usd AS estimated FROM budget_periods',
    );
    const windows = [
      ['', 'day'],
      ['', 'week'],
      ['', 'month'],
      ['', 'total'],
      ['ann', 'day'],
      ['ann', 'week'],
      ['ann', 'month'],
    ];
    expect(new Set(periods)).toEqual(
      new Set(windows.map(([subject, window]) => ({ subject, window, spent: '90', estimated: '90' }))),
    );
    expect((await verify()).findings).toEqual([]);
    await db.query(`UPDATE budget_periods SET spent_nano_usd = spent_nano_usd + 1 WHERE window_name = 'month'`);
    const { findings } = await verify();
    expect(findings.map(({ table, column, stored, recomputed }) => [table, column, stored, recomputed])).toEqual(
      Array(2).fill(['budget_periods', 'spent_nano_usd', '91', '90']),
    );
  });

  it('the granted amount of a budget is not the sum of its grants → found', async () => {
    const month = `${new Date(TODAY_MS).toISOString().slice(0, 7)}-01`;
    const key = 'app_id, scope, subject, window_name, period_start';
    const values = "'app-1', 'user', 'ann', 'month', $1";
    await db.query(
      `INSERT INTO budget_periods (${key}, organization_id, granted_nano_usd) VALUES (${values}, 'org-1', 12)`,
      [month],
    );
    await db.query(
      `INSERT INTO budget_grants (${key}, instance_id, granted_nano_usd) VALUES (${values}, 'one', 5), (${values}, 'two', 7)`,
      [month],
    );
    expect((await verify()).findings).toEqual([]);
    await db.query(`DELETE FROM budget_grants WHERE instance_id = 'two'`);
    expect((await verify()).findings).toMatchObject([
      { table: 'budget_grants', column: 'granted_nano_usd', stored: '12', recomputed: '5' },
    ]);
  });

  it('a row is missing → reports all its columns as not stored', async () => {
    await storeOne();
    await db.query('DELETE FROM usage_days');
    const { findings } = await verify();
    const inTable = (table: string) => findings.filter((finding) => finding.table === table);
    expect([inTable('usage_days').length, inTable('usage_app_months').length]).toEqual([7, 9]);
    expect(findings).toHaveLength(16);
    expect(findings).toContainEqual(
      expect.objectContaining({ table: 'usage_days', column: 'cost_nano_usd', stored: null, recomputed: '7' }),
    );
  });

  it('an event is missing, or is in no sum → reports all its sums, and the spent amounts of budgets', async () => {
    await storeOne();
    await db.query('UPDATE usage_events SET cost_nano_usd = 8');
    const tables = (await verify()).findings.map(({ table, column }) => [table, column]);
    expect(tables).toEqual(
      ['usage_days', 'usage_user_days', 'usage_all_users_days', 'usage_user_months', 'usage_app_months']
        .map((table) => [table, 'cost_nano_usd'])
        .concat(Array(6).fill(['budget_periods', 'spent_nano_usd'])),
    );
    await db.query('DELETE FROM usage_events');
    expect(new Set((await verify()).findings.map(({ recomputed }) => recomputed))).toEqual(new Set([null]));
  });

  it('requests under a wrong key of any dimension → reports both rows', async () => {
    await storeOne();
    await db.query("UPDATE usage_days SET app_version = '9'");
    const { findings } = await verify();
    expect(findings).toHaveLength(14);
    expect(new Set(findings.map(({ key }) => key.app_version))).toEqual(new Set(['9', null]));
  });

  it('an already folded month within the claim → found; older ones → not claimed', async () => {
    const folded = `INSERT INTO usage_months VALUES ('org-1', 'app-1', $1, 'openai', 'm', 'ok', 1, 0, 0, 0, 0, 0)`;
    await db.query(folded, ['2020-01-01']);
    expect((await verify()).findings).toEqual([]);
    const month = `${new Date(TODAY_MS).toISOString().slice(0, 7)}-01`;
    await db.query(folded, [month]);
    expect((await verify()).findings).toContainEqual(
      expect.objectContaining({ table: 'usage_months', column: 'requests', stored: '1', recomputed: null }),
    );
  });

  it('events older than 90 days are deleted → not checked, and the report says so', async () => {
    const app = { organization_id: 'org-1', app_id: 'app-1', user_id: 'ann' };
    await storeEvents(db, { ...app, created_at_ms: TODAY_MS - 91 * DAY_MS }, { ...app, created_at_ms: TODAY_MS });
    await db.query(`DELETE FROM usage_events WHERE created_at < now() - interval '90 days'`);
    const report = await verify();
    expect(report).toEqual({
      ...{ firstDay: new Date(TODAY_MS - 90 * DAY_MS).toISOString().slice(0, 10), apps: 1, findings: [] },
    });
  });
});

describe('npm run verify-ledger', () => {
  function run(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
    const dataDir = mkdtempSync(join(tmpdir(), 'gateway-ledger-'));
    const env = { ...testEnvironment(url, dataDir, newManagementKey()), PATH: process.env.PATH };
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], { env }, (error, out, err) => {
        rmSync(dataDir, { recursive: true, force: true });
        resolve({ code: error === null ? 0 : error.code, out, err });
      });
    });
  }

  it('no difference → 0 and says what it checks; one unit off → 1 and names it', async () => {
    await storeOne();
    const good = await run();
    expect(good).toMatchObject({ code: 0, err: '' });
    expect(good.out).toMatch(/^Compared from \d{4}-\d\d-\d\d on, 1 applications\..*not part of the claim/);
    await db.query('UPDATE usage_days SET cost_nano_usd = 8');
    const bad = await run();
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/^app-1 usage_days day=.* model="gpt-4.1" .*: cost_nano_usd stored 8, recomputed 7\n/m);
    const json = await run('--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ...{ ok: false, first_day: expect.any(String), apps: 1 },
      differences: ['usage_days', 'usage_app_months'].map((table) => ({
        ...{ organization_id: 'org-1', app_id: 'app-1', table, column: 'cost_nano_usd' },
      })),
    });
  });

  it('sums cannot be read → 2 with the reason', async () => {
    await db.query('ALTER TABLE usage_days RENAME TO usage_days_away');
    try {
      const answer = await run();
      expect(answer.code).toBe(2);
      expect(answer.err).toMatch(/^The ledger could not be checked: .*usage_days/);
    } finally {
      await db.query('ALTER TABLE usage_days_away RENAME TO usage_days');
    }
  });
});
