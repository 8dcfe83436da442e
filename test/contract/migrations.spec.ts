import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../src/common/log/secret.js';
import { createDataSource, type MigrationClass } from '../../src/platform/database/data-source.js';
import { MIGRATIONS } from '../../src/platform/database/migration-list.js';
import { dropDatabase, emptyDatabase } from '../support/platform/database.js';
import { ALL_USERS_OUT_OF_STEP, APPS_OUT_OF_STEP, SUMS_OUT_OF_STEP } from '../support/usage/recording/usage-sums.js';

let url: string;
let source: DataSource;

/** An event in the original format. */
/**
 * Of the months whose events are kept whole: what is spent by application and user that is not the cost of their
 * events.
 */
const SPENT_OUT_OF_STEP = `
  WITH summed AS (
    SELECT app_id, scope.user_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month,
      sum(cost_nano_usd)::bigint AS spent
    FROM usage_events event CROSS JOIN LATERAL (VALUES (''), (event.user_id)) AS scope(user_id)
    WHERE scope.user_id IS NOT NULL AND created_at >= date_trunc('month', now() - interval '2 months')
    GROUP BY 1, 2, 3),
  kept AS (
    SELECT app_id, subject, period_start, spent_nano_usd AS spent FROM budget_periods
    WHERE window_name = 'month' AND period_start >= date_trunc('month', now() - interval '2 months'))
  (SELECT * FROM summed EXCEPT SELECT * FROM kept) UNION ALL (SELECT * FROM kept EXCEPT SELECT * FROM summed)`;

const ONE_MORE = `
  INSERT INTO usage_events (event_id, organization_id, app_id, provider_type, model, route, status, created_at)
  VALUES ('more-1', 'org-1', 'app-1', 'openai', 'm', 'r', 'ok', now())`;

beforeEach(async () => {
  url = await emptyDatabase();
  source = await connect(MIGRATIONS);
});

function connect(migrations: readonly MigrationClass[]): Promise<DataSource> {
  return createDataSource({
    url: new Secret(url),
    poolSize: 2,
    applicationName: 'migrations-test',
    entities: [],
    migrations,
  }).initialize();
}

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
  it('up, down, up → the same schema again, and nothing left after down', async () => {
    await up();
    const first = await schema();
    await downCompletely();
    expect(await leftovers()).toEqual([]);
    await up();
    expect(await schema()).toEqual(first);
    expect(first).toMatchObject({ columns: expect.arrayContaining([expect.anything()]) });
  });

  it('usage events from before partitioning → kept unchanged with consistent sums; the same after down', async () => {
    const partitioning = MIGRATIONS.findIndex(({ name }) => name.startsWith('PartitionUsageEvents'));
    const before = await connect(MIGRATIONS.slice(0, partitioning));
    await before.runMigrations({ transaction: 'each' });
    await before.query(`
      INSERT INTO usage_events (event_id, organization_id, app_id, user_id, provider_type, model, route, status, requests,
        input_tokens, cost_nano_usd, response_id, attempts, created_at)
      SELECT 'event-' || n, 'org-1', 'app-' || n % 2, CASE WHEN n % 3 > 0 THEN 'user-' || n % 3 END, 'openai', 'm', 'r',
        (ARRAY['ok', 'provider_error', 'blocked_user'])[1 + n % 3], 1 + n % 2, n, 9007199254740991, 'resp-' || n,
        '[{"a":  1}]', now() + (n - 20) * interval '50 days'
      FROM generate_series(1, 30) n`);
    await before.query(`
      INSERT INTO usage_user_months
      SELECT organization_id, app_id, user_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, requests, input_tokens,
        0, 0, 0, cost_nano_usd, (status = 'provider_error')::integer * requests, (status = 'blocked_user')::integer * requests,
        created_at, created_at, (created_at AT TIME ZONE 'UTC')::date, (status <> 'blocked_user')::integer * requests
      FROM usage_events WHERE user_id IS NOT NULL`);
    const events = () => source.query('SELECT * FROM usage_events ORDER BY id');
    const kept: object[] = await events();
    await up();
    const added = {
      ...{ charged_nano_usd: null, settled_at: null, usage_parts: null, refusal: null, duration_ms: null },
      ...{ groups: null, limits: null, charged_tokens: null },
    };
    expect(await events()).toEqual(kept.map((event) => ({ ...event, ...added })));
    expect(await source.query(SPENT_OUT_OF_STEP)).toEqual([]);
    for (const sql of SUMS_OUT_OF_STEP) expect(await source.query(sql)).toEqual([]);
    const places = await source.query('SELECT DISTINCT tableoid::regclass::text AS place FROM usage_events ORDER BY 1');
    expect(places.length).toBeGreaterThan(10);
    expect(places).toContainEqual({ place: 'usage_events_default' });
    await source.query(ONE_MORE);
    for (const _later of MIGRATIONS.slice(partitioning)) await source.undoLastMigration({ transaction: 'each' });
    await source.query(ONE_MORE.replace('more-1', 'more-2'));
    const more = (id: number) => expect.objectContaining({ id: String(kept.length + id), event_id: `more-${id}` });
    expect(await events()).toEqual([...kept, more(1), more(2)]);
    await before.destroy();
  });

  it('subjects from before issuers were stored → assigned to Google, as in the previous version; after down, only those remain', async () => {
    const naming = MIGRATIONS.findIndex(({ name }) => name.startsWith('NameIssuers'));
    const before = await connect(MIGRATIONS.slice(0, naming));
    await before.runMigrations({ transaction: 'each' });
    await source.query("INSERT INTO identities (id, kind, created_at) VALUES ('ada', 'service', now())");
    const asBefore =
      "INSERT INTO openid_subjects (provider, subject, identity_id, created_at) VALUES ('google', $1, 'ada', now())";
    await source.query(asBefore, ['early']);
    await up();
    await source.query(asBefore, ['late']);
    await source.query(
      `INSERT INTO openid_subjects (issuer, subject, identity_id, created_at)
       VALUES ('https://accounts.google.com', 'new', 'ada', now()), ('https://b.example', 'early', 'ada', now())`,
    );
    const google = ['early', 'late', 'new'].map((subject) => ({ provider: 'google', subject }));
    const kept = 'SELECT provider, subject FROM openid_subjects';
    expect(await source.query(`${kept} WHERE issuer = 'https://accounts.google.com' ORDER BY subject`)).toEqual(google);
    for (const _later of MIGRATIONS.slice(naming)) await source.undoLastMigration({ transaction: 'each' });
    expect(await source.query(`${kept} ORDER BY subject`)).toEqual(google);
    await before.destroy();
  });

  it('events that count more than they cost, from before estimates were shown → every sum includes them; after down none does', async () => {
    const showing = MIGRATIONS.findIndex(({ name }) => name.startsWith('ShowEstimates'));
    const before = await connect(MIGRATIONS.slice(0, showing));
    await before.runMigrations({ transaction: 'each' });
    const events: [id: string, userId: string | null, charged: number | null][] = [
      ['a', 'ann', 70],
      ['b', 'ann', null],
      ['c', null, 25],
      ['d', 'ben', 10],
    ];
    for (const event of events) {
      await before.query(
        `INSERT INTO usage_events (event_id, organization_id, app_id, user_id, provider_type, model, route, status,
           cost_nano_usd, charged_nano_usd, created_at) VALUES ($1, 'org-1', 'app-1', $2, 'openai', 'm', 'r', 'ok', 10, $3, now())`,
        event,
      );
    }
    await before.query(`
      INSERT INTO usage_days (organization_id, app_id, day, provider_type, model, route, status, requests, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, cost_nano_usd)
      SELECT organization_id, app_id, (created_at AT TIME ZONE 'UTC')::date, provider_type, model, route, status, 4, 0, 0, 0,
        0, 40 FROM usage_events WHERE event_id = 'a'`);
    await before.query(`
      INSERT INTO usage_user_days
      SELECT organization_id, app_id, user_id, (created_at AT TIME ZONE 'UTC')::date, count(*), 0, 0, 0, 0, 10 * count(*), 0, 0
      FROM usage_events WHERE user_id IS NOT NULL GROUP BY 1, 2, 3, 4`);
    await before.query(`
      INSERT INTO usage_user_months
      SELECT organization_id, app_id, user_id, date_trunc('month', day::timestamp)::date, requests, 0, 0, 0, 0, cost_nano_usd,
        0, 0, now(), now(), day, requests FROM usage_user_days`);
    await before.query(`
      INSERT INTO budget_months (organization_id, app_id, user_id, month, spent_nano_usd)
      SELECT 'org-1', 'app-1', user_id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, spent
      FROM (VALUES ('', 115), ('ann', 80), ('ben', 10)) AS known(user_id, spent)`);
    await up();
    const estimates = (table: string) =>
      source.query(`SELECT coalesce(sum(estimated_nano_usd), 0)::integer AS estimated FROM ${table}`);
    expect(await estimates('usage_days')).toEqual([{ estimated: 75 }]);
    for (const table of ['usage_user_days', 'usage_all_users_days', 'usage_user_months']) {
      expect([table, await estimates(table)]).toEqual([table, [{ estimated: 60 }]]);
    }
    const budgets = await source.query(
      "SELECT subject AS user_id, estimated_nano_usd::integer AS is FROM budget_periods WHERE window_name = 'month' ORDER BY 1",
    );
    expect(budgets).toEqual([
      { user_id: '', is: 75 },
      { user_id: 'ann', is: 60 },
      { user_id: 'ben', is: 0 },
    ]);
    expect(await source.query(ALL_USERS_OUT_OF_STEP)).toEqual([]);
    for (const _later of MIGRATIONS.slice(showing)) await source.undoLastMigration({ transaction: 'each' });
    await source.query("DELETE FROM usage_user_days WHERE user_id = 'ann'");
    expect(await source.query('SELECT sum(requests)::integer AS left FROM usage_all_users_days')).toEqual([
      { left: 1 },
    ]);
    await before.destroy();
  });

  it('usage from before monthly sums of applications → summed, including events that the previous version stores', async () => {
    const summing = MIGRATIONS.findIndex(({ name }) => name.startsWith('SumMonthsOfApps'));
    const before = await connect(MIGRATIONS.slice(0, summing));
    await before.runMigrations({ transaction: 'each' });
    const storeDays = (count: number) =>
      source.query(
        `INSERT INTO usage_days (organization_id, app_id, day, provider_type, model, status, requests, input_tokens,
           cached_input_tokens, cache_write_tokens, output_tokens, cost_nano_usd)
         SELECT 'org-1', 'app-' || n % 3, date '2025-11-20' + n, 'openai', 'm',
           (ARRAY['ok', 'provider_error', 'blocked_user'])[1 + n % 3], n, n, 0, 0, 1, 9007199254740991
         FROM generate_series(1, $1::integer) n
         ON CONFLICT (app_id, day, dimensions) DO UPDATE SET requests = usage_days.requests + excluded.requests`,
        [count],
      );
    await storeDays(30);
    await source.query(`
      INSERT INTO usage_months (organization_id, app_id, month, provider_type, model, status, requests, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, cost_nano_usd)
      VALUES ('org-1', 'app-1', '2024-02-01', 'openai', 'm', 'ok', 5, 0, 0, 0, 0, 7)`);
    await up();
    expect(await source.query(APPS_OUT_OF_STEP)).toEqual([]);
    const first = await source.query(
      'SELECT app_id, min(first_day)::text AS first FROM usage_app_months GROUP BY 1 ORDER BY 1',
    );
    expect(first).toEqual([
      { app_id: 'app-0', first: '2025-11-23' },
      { app_id: 'app-1', first: '2024-02-01' },
      { app_id: 'app-2', first: '2025-11-22' },
    ]);
    await storeDays(60);
    await source.query("DELETE FROM usage_days WHERE day = '2025-11-21'");
    await source.query("UPDATE usage_days SET status = 'ok', cost_nano_usd = 1 WHERE day = '2025-11-22'");
    expect(await source.query(APPS_OUT_OF_STEP)).toEqual([]);
    await before.destroy();
  });

  it('constraints → all have explicit names, so that an error can be identified', async () => {
    await up();
    const generated = await source.query(
      `SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
          AND conrelid <> 'migrations'::regclass AND contype IN ('p', 'u', 'f', 'c') AND conname !~ '_(pkey|key|fkey|check)$'`,
    );
    expect(generated).toEqual([]);
  });

  it('files in migrations/ → all listed, oldest first', () => {
    const stamps = readdirSync(new URL('../../migrations/', import.meta.url))
      .map((file) => /^(\d{13})-[a-z]+(?:-[a-z]+)+\.ts$/.exec(file)?.[1] ?? file)
      .sort();
    expect(MIGRATIONS.map(({ name }) => name.slice(-13))).toEqual(stamps);
  });
});
