/**
 * Fills a database with usage of an account, for pictures and demonstrations:
 * `npm exec -- node tools/bench/usage/generate-usage.mjs --url=postgres://… --account=<id> [--events=1000000]
 * [--days=90] [--users=100000]`; instead of `--url`, `--data-dir=.data` names the data directory of a gateway with an
 * embedded database.
 *
 * The database must be migrated. Applications, users and models have very different usage, a few statuses are rare, and
 * weekends are quieter. Sums match the events, and no event is in the future. The models are those of the account's
 * providers, and the applications that `--app` names (all without it) are used in that order. With `--seed`, from -1 to
 * 1, the usage is reproducible.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Secret } from '../../../dist/src/common/log/secret.js';
import { createDataSource } from '../../../dist/src/platform/database/data-source.js';
import { startEmbeddedPostgres } from '../../../dist/src/platform/embedded-postgres/embedded-postgres.js';
import { UsagePartitionsRepository } from '../../../dist/src/usage/recording/event/usage-partitions.repository.js';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    'data-dir': { type: 'string' },
    events: { type: 'string', default: '1000000' },
    days: { type: 'string', default: '90' },
    users: { type: 'string', default: '100000' },
    account: { type: 'string' },
    app: { type: 'string', multiple: true },
    seed: { type: 'string' },
  },
});
if ((values.url ?? values['data-dir']) === undefined) throw new Error('--url or --data-dir names the database to fill');
const { account } = values;
if (account === undefined) throw new Error('--account says whose usage it is');
const size = Object.fromEntries(['events', 'days', 'users'].map((name) => [name, Number(values[name])]));
for (const [name, count] of Object.entries(size)) if (!(count >= 1)) throw new Error(`--${name} takes 1 or more`);

/** Type, author, model, route, and nano-USD for an input and an output token. The first are used most. */
const MODELS = [
  ['openai', 'OpenAI', 'gpt-4.1-mini', 'openai/v1/responses', 400, 1_600],
  ['anthropic', 'Anthropic', 'claude-haiku-4-5', 'anthropic/v1/messages', 1_000, 5_000],
  ['gemini', 'Google', 'gemini-2.5-flash', 'gemini/v1beta/models', 300, 2_500],
  ['openai', 'OpenAI', 'gpt-4.1', 'openai/v1/responses', 2_000, 8_000],
  ['xai', 'xAI', 'grok-4.3', 'xai/v1/chat/completions', 1_250, 2_500],
  ['openai', 'OpenAI', 'gpt-5-mini', 'openai/v1/responses', 250, 2_000],
  ['anthropic', 'Anthropic', 'claude-sonnet-4-5', 'anthropic/v1/messages', 3_000, 15_000],
  ['gemini', 'Google', 'gemini-2.5-pro', 'gemini/v1beta/models', 1_250, 10_000],
  ['openai', 'OpenAI', 'gpt-4o-mini', 'openai/v1/chat/completions', 150, 600],
  ['openai', 'OpenAI', 'gpt-4.1-nano', 'openai/v1/responses', 100, 400],
  ['gemini', 'Google', 'gemini-2.5-flash-lite', 'gemini/v1beta/models', 100, 400],
  ['openai', 'OpenAI', 'text-embedding-3-small', 'openai/v1/embeddings', 20, 0],
];

const SUMMED = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'cost_nano_usd'];
const DIMENSIONS = `provider_type, provider_slug, provider_gateway_id, credential_source, model_author, model, route,
  endpoint_slug, app_version, status, cost_source`;
const SUMS = `sum(requests), ${SUMMED.map((name) => `sum(${name})`).join(', ')}`;
const FAILURES = `count(*) FILTER (WHERE status = 'provider_error'), count(*) FILTER (WHERE status LIKE 'blocked%')`;

/** One UTC day of events: $1 how many, $2 days ago, $3 the account, $4 its applications, $5 users, $6 models. */
const ONE_DAY = `
  CREATE TEMP TABLE made ON COMMIT DROP AS
  SELECT lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || substr(md5(random()::text), 1, 20) AS event_id,
    $3::text AS organization_id, app.id AS app_id,
    CASE WHEN app.has_users THEN 'user-' || floor($5::integer * power(user_dice, 2)) END AS user_id,
    CASE WHEN NOT app.has_users THEN 'key-' || app.id END AS api_key_id,
    model.type AS provider_type, model.provider AS provider_id, model.slug AS provider_slug,
    NULL::text AS provider_gateway_id, NULL::text AS provider_gateway_type, 'direct' AS credential_source,
    model.author AS model_author, NULL::text AS served_provider, model.name || '-2026-01-01' AS served_model,
    CASE WHEN dice < 0.000001 THEN 'rare-model' ELSE model.name END AS model,
    model.route || CASE WHEN dice > 0.9 THEN '/stream' ELSE '' END AS route,
    app.endpoints ->> (model_at % greatest(jsonb_array_length(app.endpoints), 1))::integer AS endpoint_slug,
    1 AS requests, input AS input_tokens, cached AS cached_input_tokens, 0::bigint AS cache_write_tokens,
    CASE WHEN model.output_nano_usd = 0 THEN 0 ELSE output END AS output_tokens,
    0::bigint AS reasoning_tokens, 0::bigint AS audio_input_tokens, 0::bigint AS audio_output_tokens,
    0::bigint AS audio_milliseconds,
    CASE WHEN status = 'ok' THEN (input - cached) * model.input_nano_usd + cached * (model.input_nano_usd / 4)
      + output * model.output_nano_usd ELSE 0 END AS cost_nano_usd,
    NULL::bigint AS reported_cost_nano_usd,
    CASE WHEN status LIKE 'blocked%' THEN NULL WHEN dice < 0.001 THEN 'unresolved' ELSE 'computed' END AS cost_source,
    CASE WHEN app.has_users THEN '4.' || floor(8 * power(dice, 2)) || '.0' END AS app_version,
    CASE WHEN app.is_mobile THEN 'attest' ELSE 'api_key' END AS auth_method,
    status, false AS client_aborted, 150 + floor(3000 * power(user_dice, 3))::integer AS latency_ms,
    400 + floor(9000 * power(user_dice, 2))::integer AS duration_ms, NULL::json AS attempts,
    'resp_' || md5(random()::text) AS response_id, at AS created_at
  FROM (
    SELECT *, floor(2000 * power(dice, 2))::bigint AS input, floor(500 * power(dice, 3))::bigint AS cached,
      floor(800 * user_dice)::bigint AS output,
      CASE WHEN fate < 0.97 THEN 'ok' WHEN fate < 0.99 THEN 'provider_error' WHEN fate < 0.996 THEN 'blocked_app_rate'
        WHEN fate < 0.99999 THEN 'blocked_user' ELSE 'blocked_billing' END AS status
    FROM (
      SELECT date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - $2::integer * interval '1 day'
          + (n - 0.5) / $1::integer * interval '1 day' AS at,
        floor(jsonb_array_length($4::jsonb) * power(random(), 3))::integer AS app_at,
        floor(jsonb_array_length($6::jsonb) * power(random(), 2))::integer AS model_at,
        random() AS user_dice, random() AS dice, random() AS fate
      FROM generate_series(1, $1::integer) n) thrown
    WHERE at < now()) chosen
  JOIN (SELECT number - 1 AS app_at, given.* FROM ROWS FROM (
      jsonb_to_recordset($4) AS (id text, has_users boolean, is_mobile boolean, endpoints jsonb)) WITH ORDINALITY AS given(id, has_users, is_mobile, endpoints, number)
    ) app USING (app_at)
  JOIN (SELECT number - 1 AS model_at, given.* FROM ROWS FROM (
      jsonb_to_recordset($6) AS (type text, provider text, slug text, author text, name text, route text,
        input_nano_usd bigint, output_nano_usd bigint))
      WITH ORDINALITY AS given(type, provider, slug, author, name, route, input_nano_usd, output_nano_usd, number)
    ) model USING (model_at)
  ORDER BY chosen.at`;

/** Columns of `made`. */
const MADE = `event_id, organization_id, app_id, user_id, api_key_id, provider_type, provider_id, provider_slug,
  provider_gateway_id, provider_gateway_type, credential_source, model_author, served_provider, served_model, model,
  route, endpoint_slug, requests, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
  reasoning_tokens, audio_input_tokens, audio_output_tokens, audio_milliseconds, cost_nano_usd, reported_cost_nano_usd,
  cost_source, app_version, auth_method, status, client_aborted, latency_ms, duration_ms, attempts, response_id,
  created_at`;

const KEEP = [
  `INSERT INTO usage_events (id, ${MADE}) SELECT nextval('usage_event_ids'), ${MADE} FROM made`,
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
  `INSERT INTO auth_events (event_id, organization_id, app_id, user_id, event, auth_method, outcome, reason, app_version,
     latency_ms, created_at)
   SELECT gen_random_uuid(), organization_id, app_id, user_id, 'token_exchange', auth_method, 'ok', NULL, min(app_version),
     4 + min(latency_ms) / 100, min(created_at) - interval '1 second' AS at
   FROM made WHERE auth_method = 'attest' AND created_at > now() - interval '30 days'
   GROUP BY organization_id, app_id, user_id, auth_method ORDER BY at`,
];

/** Of the account $1: three of a hundred attempts, and always the same of the newest, so that pages look the same. */
const REJECT_SOME = `
  UPDATE auth_events SET outcome = 'issuer_token_rejected'
  FROM (SELECT event_id, row_number() OVER (PARTITION BY app_id ORDER BY id DESC) AS place
    FROM auth_events WHERE organization_id = $1) AS ranked
  WHERE auth_events.event_id = ranked.event_id AND place % 33 = 5`;

/** So that their users are stored, as the service stores users known only from usage. */
async function appsOfAccount() {
  const { rows } = await client.query(
    `SELECT id, config #>> '{authentication,type}' <> 'api_key' OR config #> '{authentication,end_user}' IS NOT NULL AS has_users,
       config #>> '{authentication,type}' = 'device_app_attest' AS is_mobile,
       (SELECT coalesce(json_agg(slug), '[]') FROM json_object_keys(config -> 'endpoints') slug) AS endpoints
     FROM apps WHERE organization_id = $1 AND ($2::text[] IS NULL OR id = ANY ($2))
     ORDER BY array_position($2, id), id`,
    [account, values.app ?? null],
  );
  if (rows.length < (values.app?.length ?? 1))
    throw new Error(`not every application is one of the account ${account}`);
  return rows;
}

/** The models that the providers of the account serve. */
async function modelsOfAccount() {
  const { rows: providers } = await client.query(
    'SELECT id, type, slug FROM providers WHERE organization_id = $1 ORDER BY created_at, slug',
    [account],
  );
  return MODELS.flatMap(([type, author, name, route, input_nano_usd, output_nano_usd], at) => {
    const serving = providers.filter((provider) => provider.type === type);
    if (serving.length === 0) return [];
    const { id: provider, slug } = serving[at % serving.length];
    return [{ type, provider, slug, author, name, route, input_nano_usd, output_nano_usd }];
  });
}

/** The partitions that the service would have created for those months. */
async function makePartitions() {
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

/** More every day, and less on weekends. */
function weightOf(daysAgo) {
  const weekday = new Date(Date.now() - daysAgo * 86_400_000).getUTCDay();
  return (weekday === 0 || weekday === 6 ? 0.6 : 1) * (1 - (0.5 * daysAgo) / size.days);
}

const embedded = values.url === undefined ? await startEmbeddedPostgres(values['data-dir']) : undefined;
const url = embedded?.url ?? new Secret(values.url);
const client = new pg.Client({ connectionString: url.reveal(), options: '-c TimeZone=UTC -c synchronous_commit=off' });
await client.connect();
await makePartitions();
const [apps, models] = [await appsOfAccount(), await modelsOfAccount()].map((list) => JSON.stringify(list));
if (values.seed !== undefined) await client.query('SELECT setseed($1::float8)', [values.seed]);
const startedMs = performance.now();
const days = Array.from({ length: size.days }, (_, at) => size.days - 1 - at);
const weights = days.reduce((sum, daysAgo) => sum + weightOf(daysAgo), 0);
let [made, weight] = [0, 0];
for (const daysAgo of days) {
  weight += weightOf(daysAgo);
  const events = Math.round((size.events * weight) / weights) - made;
  if (events === 0) continue;
  await client.query('BEGIN');
  await client.query(ONE_DAY, [events, daysAgo, account, apps, size.users, models]);
  for (const statement of KEEP) await client.query(statement);
  await client.query('COMMIT');
  made += events;
}
await client.query(REJECT_SOME, [account]);
await client.query(
  'VACUUM (ANALYZE) usage_events, usage_days, usage_user_days, usage_all_users_days, usage_user_months, usage_app_months, app_users, auth_events',
);
await client.end();
await embedded?.stop();
console.log(`${made} events of ${account} in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
