import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CreateUsageEvents1763600000003 } from './1763600000003-create-usage-events.js';

/** Months before the current one whose events, if any, get a separate partition. */
const MONTHS_BACK = 24;
const MONTHS_AHEAD = 2;

const COUNTS = `requests bigint NOT NULL,
  input_tokens numeric NOT NULL,
  cached_input_tokens numeric NOT NULL,
  cache_write_tokens numeric NOT NULL,
  output_tokens numeric NOT NULL,
  cost_nano_usd numeric NOT NULL`;

const SUMS = `sum(requests), sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens),
  sum(cost_nano_usd)`;

/** The columns that distinguish rows of a day, in order. */
const DIMENSIONS = [
  'provider_type',
  'provider_slug',
  'provider_gateway_id',
  'credential_source',
  'model_author',
  'model',
  'route',
  'endpoint_slug',
  'app_version',
  'status',
  'cost_source',
].join(', ');

/**
 * Each text with its length before it, so that no two lists have the same encoding; a null differs from an empty text.
 */
const DIMENSIONS_TEXT = `organization_id, ${DIMENSIONS}`
  .split(', ')
  .map((name) => `coalesce(length(${name})::text || ':' || ${name}, '-')`)
  .join(' || ');

/**
 * Usage at ten million events. Events are in a partition per UTC month, `usage_events_2026_11`, and those of other
 * times in `usage_events_default`. `usage_days`, `usage_user_days` and, for days long past, `usage_months` are sums of
 * them, which the statements that store or remove events keep in step; no foreign keys, as usage outlives what it
 * names. Sums of tokens and money are numeric, because they may exceed a bigint; rows that are rewritten often have
 * room for it.
 *
 * A row of `usage_days` is identified by the common values of its events. Those texts together are too long for an
 * index, so `dimensions` is their hash. Rows without a route are those of days whose events are deleted.
 */
export class PartitionUsageEvents1763600000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events RENAME TO usage_events_before');
    await dropIndexes(runner);
    await runner.query(`
      CREATE TABLE usage_events (LIKE usage_events_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
        PARTITION BY RANGE (created_at)`);
    await runner.query('CREATE SEQUENCE usage_event_ids OWNED BY usage_events.id');
    await runner.query("ALTER TABLE usage_events ALTER COLUMN id SET DEFAULT nextval('usage_event_ids')");
    await runner.query('CREATE TABLE usage_events_default PARTITION OF usage_events DEFAULT');
    await createPartitions(runner);
    await runner.query('INSERT INTO usage_events SELECT * FROM usage_events_before');
    await runner.query("SELECT setval('usage_event_ids', (SELECT max(id) FROM usage_events_before))");
    await runner.query('DROP TABLE usage_events_before');
    await createIndexes(runner);
    await createDays(runner);
    await createUserDays(runner);
    await createMonths(runner);
    await runner.query('ANALYZE usage_events, usage_days, usage_user_days');
  }

  /** Sums of already deleted events are lost. */
  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_months', 'usage_user_days', 'usage_days']) await runner.query(`DROP TABLE ${table}`);
    await runner.query('ALTER TABLE usage_events RENAME TO usage_events_parted');
    await runner.query(`
      ALTER TABLE usage_events_parted
        DROP CONSTRAINT usage_events_pkey, DROP CONSTRAINT usage_events_event_id_key`);
    for (const index of ['app', 'kind', 'user', 'response']) await runner.query(`DROP INDEX usage_events_${index}_idx`);
    await new CreateUsageEvents1763600000003().up(runner);
    await runner.query('INSERT INTO usage_events OVERRIDING SYSTEM VALUE SELECT * FROM usage_events_parted');
    await runner.query(
      "SELECT setval(pg_get_serial_sequence('usage_events', 'id'), (SELECT max(id) FROM usage_events_parted))",
    );
    await runner.query('DROP TABLE usage_events_parted');
    await runner.query(
      "CREATE INDEX usage_events_failure_idx ON usage_events (organization_id, app_id, created_at) WHERE status <> 'ok'",
    );
  }
}

/** The new table needs their names, and the old one is only read once more. */
async function dropIndexes(runner: QueryRunner): Promise<void> {
  await runner.query(`
    ALTER TABLE usage_events_before DROP CONSTRAINT usage_events_pkey, DROP CONSTRAINT usage_events_event_id_key`);
  for (const index of ['app', 'app_month', 'response', 'failure']) {
    await runner.query(`DROP INDEX usage_events_${index}_idx`);
  }
}

/** For the months of existing events, unless they are far off, for the current one and for coming ones. */
async function createPartitions(runner: QueryRunner): Promise<void> {
  await runner.query(`
    DO $$
    DECLARE
      current_month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
      month timestamp;
    BEGIN
      FOR month IN
        SELECT date_trunc('month', created_at AT TIME ZONE 'UTC') FROM usage_events_before
        WHERE created_at >= (current_month - interval '${MONTHS_BACK} months') AT TIME ZONE 'UTC'
          AND created_at < (current_month + interval '${MONTHS_AHEAD + 1} months') AT TIME ZONE 'UTC'
        UNION
        SELECT current_month + ahead * interval '1 month' FROM generate_series(0, ${MONTHS_AHEAD}) ahead
      LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF usage_events FOR VALUES FROM (%L) TO (%L)',
          'usage_events_' || to_char(month, 'YYYY_MM'), to_char(month, 'YYYY-MM-DD 00:00:00+00'),
          to_char(month + interval '1 month', 'YYYY-MM-DD 00:00:00+00'));
      END LOOP;
    END $$`);
}

/** `kind` and `user` group the newest events of each kind, so that a page of rare ones is found quickly. */
async function createIndexes(runner: QueryRunner): Promise<void> {
  await runner.query(`
    ALTER TABLE usage_events
      ADD CONSTRAINT usage_events_pkey PRIMARY KEY (id, created_at),
      ADD CONSTRAINT usage_events_event_id_key UNIQUE (event_id, created_at)`);
  await runner.query('CREATE INDEX usage_events_app_idx ON usage_events (organization_id, app_id, id DESC)');
  await runner.query('CREATE INDEX usage_events_kind_idx ON usage_events (app_id, model, provider_type, status, id)');
  await runner.query(`
    CREATE INDEX usage_events_user_idx ON usage_events (app_id, user_id, model, provider_type, status, id)
      WHERE user_id IS NOT NULL`);
  await runner.query(
    'CREATE INDEX usage_events_response_idx ON usage_events (app_id, response_id) WHERE response_id IS NOT NULL',
  );
}

async function createDays(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE usage_days (
      organization_id text NOT NULL,
      app_id text NOT NULL,
      day date NOT NULL,
      provider_type text NOT NULL,
      provider_slug text,
      provider_gateway_id text,
      credential_source text,
      model_author text,
      model text NOT NULL,
      route text,
      endpoint_slug text,
      app_version text,
      status text NOT NULL,
      cost_source text,
      ${COUNTS},
      dimensions bytea NOT NULL GENERATED ALWAYS AS (sha256(replace(${DIMENSIONS_TEXT}, '\\', '\\\\')::bytea)) STORED,
      CONSTRAINT usage_days_key UNIQUE (app_id, day, dimensions)
    ) WITH (fillfactor = 70)`);
  await runner.query('CREATE INDEX usage_days_account_idx ON usage_days (organization_id, day)');
  await runner.query(`
    INSERT INTO usage_days
    SELECT organization_id, app_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${DIMENSIONS}, ${SUMS}
    FROM usage_events GROUP BY organization_id, app_id, day, ${DIMENSIONS}`);
}

async function createUserDays(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE usage_user_days (
      organization_id text NOT NULL,
      app_id text NOT NULL,
      user_id text NOT NULL,
      day date NOT NULL,
      ${COUNTS},
      errors bigint NOT NULL,
      blocked bigint NOT NULL,
      CONSTRAINT usage_user_days_pkey PRIMARY KEY (app_id, day, user_id)
    ) WITH (fillfactor = 70)`);
  await runner.query(`
    INSERT INTO usage_user_days
    SELECT min(organization_id), app_id, user_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${SUMS},
      coalesce(sum(requests) FILTER (WHERE status = 'provider_error'), 0),
      coalesce(sum(requests) FILTER (WHERE starts_with(status, 'blocked_')), 0)
    FROM usage_events WHERE user_id IS NOT NULL GROUP BY app_id, user_id, day`);
}

async function createMonths(runner: QueryRunner): Promise<void> {
  await runner.query(`
    CREATE TABLE usage_months (
      organization_id text NOT NULL,
      app_id text NOT NULL,
      month date NOT NULL,
      provider_type text NOT NULL,
      model text NOT NULL,
      status text NOT NULL,
      ${COUNTS},
      CONSTRAINT usage_months_pkey PRIMARY KEY (app_id, month, provider_type, model, status, organization_id)
    )`);
  await runner.query('CREATE INDEX usage_months_account_idx ON usage_months (organization_id, month)');
}
