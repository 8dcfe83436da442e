/**
 * Fills a database with usage of an account of its own, for looking at plans and times:
 * `npm run generate-usage -- --url=postgres://… [--events=1000000] [--days=90] [--apps=20] [--users=100000]`
 *
 * The database must be migrated. Applications, users and models are used by very different amounts, a few models and
 * statuses hardly ever, and every other application has users. Sums are in step with the events.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Secret } from '../../dist/src/common/log/secret.js';
import { createDataSource } from '../../dist/src/platform/database/data-source.js';
import { UsagePartitionsRepository } from '../../dist/src/usage/event/usage-partitions.repository.js';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    events: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    apps: { type: 'string', default: '20' },
    users: { type: 'string', default: '100000' },
  },
});
if (values.url === undefined) throw new Error('--url names the database to fill');
const size = Object.fromEntries(['events', 'days', 'apps', 'users'].map((name) => [name, Number(values[name])]));
for (const [name, count] of Object.entries(size)) if (!(count >= 1)) throw new Error(`--${name} takes 1 or more`);

const SUMMED = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'cost_nano_usd'];
const DIMENSIONS = `provider_type, provider_slug, provider_gateway_id, credential_source, model_author, model, route,
  endpoint_slug, app_version, status, cost_source`;
const SUMS = `sum(requests), ${SUMMED.map((name) => `sum(${name})`).join(', ')}`;
const FAILURES = `count(*) FILTER (WHERE status = 'provider_error'), count(*) FILTER (WHERE status LIKE 'blocked%')`;

/** One UTC day of events: $1 how many, $2 days ago, $3 the account, $4 applications, $5 users. */
const ONE_DAY = `
  CREATE TEMP TABLE made ON COMMIT DROP AS
  SELECT lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20) AS event_id,
    $3::text AS organization_id, $3::text || '-app-' || app AS app_id,
    CASE WHEN app % 2 = 0 THEN 'user-' || floor($5::integer * power(user_dice, 2)) END AS user_id,
    CASE WHEN app % 2 = 1 THEN 'key-' || app END AS api_key_id,
    (ARRAY['openai', 'anthropic', 'gemini'])[1 + model % 3] AS provider_type,
    'provider-' || model % 3 AS provider_id,
    (ARRAY['openai', 'anthropic', 'gemini'])[1 + model % 3] || CASE WHEN app % 5 = 0 THEN '-eu' ELSE '' END AS provider_slug,
    NULL::text AS provider_gateway_id, NULL::text AS provider_gateway_type, 'direct' AS credential_source,
    (ARRAY['OpenAI', 'Anthropic', 'Google'])[1 + model % 3] AS model_author,
    NULL::text AS served_provider, 'model-' || model || '-2026-01-01' AS served_model,
    CASE WHEN dice < 0.000001 THEN 'rare-model' ELSE 'model-' || model END AS model,
    (ARRAY['openai/v1/responses', 'anthropic/v1/messages', 'gemini/v1beta/models'])[1 + model % 3]
      || CASE WHEN dice > 0.9 THEN '/stream' ELSE '' END AS route,
    CASE WHEN app % 3 = 0 THEN 'endpoint-' || model % 4 END AS endpoint_slug,
    1 AS requests, floor(2000 * power(dice, 2))::bigint AS input_tokens, floor(500 * dice)::bigint AS cached_input_tokens,
    0::bigint AS cache_write_tokens, floor(800 * user_dice)::bigint AS output_tokens,
    0::bigint AS reasoning_tokens, 0::bigint AS audio_input_tokens, 0::bigint AS audio_output_tokens,
    0::bigint AS audio_milliseconds, floor(9000000 * dice)::bigint AS cost_nano_usd, NULL::bigint AS reported_cost_nano_usd,
    CASE WHEN status LIKE 'blocked%' THEN NULL WHEN dice < 0.001 THEN 'unresolved' ELSE 'computed' END AS cost_source,
    CASE WHEN app % 2 = 0 THEN '4.' || floor(8 * power(dice, 2)) || '.0' END AS app_version,
    CASE WHEN app % 2 = 0 THEN 'attest' ELSE 'api_key' END AS auth_method,
    status, false AS client_aborted, floor(3000 * user_dice)::integer AS latency_ms, NULL::json AS attempts,
    'resp_' || md5(random()::text) AS response_id, at AS created_at
  FROM (
    SELECT *, CASE WHEN fate < 0.97 THEN 'ok' WHEN fate < 0.99 THEN 'provider_error' WHEN fate < 0.996 THEN 'blocked_app_rate'
      WHEN fate < 0.99999 THEN 'blocked_user' ELSE 'blocked_billing' END AS status
    FROM (
      SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - $2::integer * interval '1 day'
          + (n - 0.5) / $1::integer * interval '1 day' AS at,
        floor($4::integer * power(random(), 3))::integer AS app, floor(24 * power(random(), 2))::integer AS model,
        random() AS user_dice, random() AS dice, random() AS fate
      FROM generate_series(1, $1::integer) n) thrown) chosen
  ORDER BY at`;

const KEEP = [
  `INSERT INTO usage_events (SELECT nextval('usage_event_ids'), made.* FROM made)`,
  `INSERT INTO usage_days SELECT organization_id, app_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${DIMENSIONS}, ${SUMS}
   FROM made GROUP BY organization_id, app_id, day, ${DIMENSIONS}`,
  `INSERT INTO usage_user_days
   SELECT organization_id, app_id, user_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${SUMS}, ${FAILURES}
   FROM made WHERE user_id IS NOT NULL GROUP BY organization_id, app_id, user_id, day`,
  `INSERT INTO usage_user_months AS known
   SELECT organization_id, app_id, user_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month, ${SUMS},
     ${FAILURES}, min(created_at), max(created_at), max((created_at AT TIME ZONE 'UTC')::date),
     count(*) FILTER (WHERE status NOT LIKE 'blocked%')
   FROM made WHERE user_id IS NOT NULL GROUP BY organization_id, app_id, user_id, month
   ON CONFLICT (app_id, user_id, month) DO UPDATE SET
     ${['requests', ...SUMMED, 'errors', 'blocked'].map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')},
     last_at = excluded.last_at, latest_day = excluded.latest_day, latest_day_requests = excluded.latest_day_requests`,
];

/** So that their users are kept among the users of applications, as the service keeps those it has seen only in usage. */
async function makeApps() {
  await client.query('INSERT INTO organizations (id, name, created_at) VALUES ($1, $1, now())', [account]);
  await client.query(
    `INSERT INTO apps (id, organization_id, name, config, authentication_type, revision, status, created_at, updated_at)
     SELECT $1::text || '-app-' || n, $1, 'Application ' || n, '{}', 'api_key', 1, 'active', now(), now()
     FROM generate_series(0, $2::integer - 1) n`,
    [account, size.apps],
  );
}

/** What the service would have made as those months began. */
async function makePartitions() {
  const url = new Secret(values.url);
  const options = { url, applicationName: 'generate-usage', poolSize: 2, entities: [], migrations: [] };
  const dataSource = await createDataSource(options).initialize();
  const partitions = new UsagePartitionsRepository(dataSource);
  const { rows } = await client.query(
    `SELECT to_char(month, 'YYYY-MM') AS month
     FROM generate_series(date_trunc('month', now() - $1::integer * interval '1 day'), now(), interval '1 month') month`,
    [size.days - 1],
  );
  for (const { month } of rows) await partitions.create(month);
  await dataSource.destroy();
}

const client = new pg.Client({ connectionString: values.url, options: '-c TimeZone=UTC -c synchronous_commit=off' });
await client.connect();
await makePartitions();
const account = `bench-${randomBytes(3).toString('hex')}`;
await makeApps();
const startedMs = performance.now();
let made = 0;
for (let day = 0; day < size.days; day++) {
  const events = Math.round((size.events * (day + 1)) / size.days) - made;
  if (events === 0) continue;
  await client.query('BEGIN');
  await client.query(ONE_DAY, [events, size.days - 1 - day, account, size.apps, size.users]);
  for (const statement of KEEP) await client.query(statement);
  await client.query('COMMIT');
  made += events;
}
await client.query(
  'VACUUM (ANALYZE) usage_events, usage_days, usage_user_days, usage_all_users_days, usage_user_months, app_users',
);
await client.end();
console.log(`${made} events of ${account} in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
