import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables of sums, in the order in which statements that store events lock them. */
const TABLES = ['usage_days', 'usage_user_days', 'usage_all_users_days', 'usage_user_months', 'usage_months'];

const MEASURES_BEFORE = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'errors',
  'blocked',
];

const MEASURES = [...MEASURES_BEFORE, 'estimated_nano_usd'];

/** The columns that distinguish rows of a day. */
const DIMENSIONS = [
  ...['provider_type', 'provider_slug', 'provider_gateway_id', 'credential_source', 'model_author', 'model', 'route'],
  ...['endpoint_slug', 'app_version', 'status', 'cost_source'],
];

/** Events that count more against budgets than they cost; they are few. */
const ESTIMATED = `
  CREATE TEMPORARY TABLE estimated_events ON COMMIT DROP AS
  SELECT organization_id, app_id, user_id, (created_at AT TIME ZONE 'UTC')::date AS day, ${DIMENSIONS.join(', ')},
    charged_nano_usd - cost_nano_usd AS estimated_nano_usd
  FROM usage_events WHERE charged_nano_usd > cost_nano_usd`;

const FILL_DAYS = `
  UPDATE usage_days used SET estimated_nano_usd = made.estimate
  FROM (
    SELECT organization_id, app_id, day, ${DIMENSIONS.join(', ')}, sum(estimated_nano_usd) AS estimate
    FROM estimated_events GROUP BY organization_id, app_id, day, ${DIMENSIONS.join(', ')}) made
  WHERE used.organization_id = made.organization_id AND used.app_id = made.app_id AND used.day = made.day
    AND ${DIMENSIONS.map((name) => `used.${name} IS NOT DISTINCT FROM made.${name}`).join(' AND ')}`;

const FILL_USER_DAYS = `
  UPDATE usage_user_days used SET estimated_nano_usd = made.estimate
  FROM (
    SELECT app_id, user_id, day, sum(estimated_nano_usd) AS estimate FROM estimated_events
    WHERE user_id IS NOT NULL GROUP BY app_id, user_id, day) made
  WHERE used.app_id = made.app_id AND used.user_id = made.user_id AND used.day = made.day`;

const FILL_USER_MONTHS = `
  UPDATE usage_user_months used SET estimated_nano_usd = made.estimate
  FROM (
    SELECT app_id, user_id, date_trunc('month', day::timestamp)::date AS month, sum(estimated_nano_usd) AS estimate
    FROM estimated_events WHERE user_id IS NOT NULL GROUP BY 1, 2, 3) made
  WHERE used.app_id = made.app_id AND used.user_id = made.user_id AND used.month = made.month`;

const FILL_BUDGETS = `
  UPDATE budget_months known SET estimated_nano_usd = made.estimate
  FROM (
    SELECT app_id, scope.user_id, date_trunc('month', day::timestamp)::date AS month, sum(estimated_nano_usd) AS estimate
    FROM estimated_events CROSS JOIN LATERAL (VALUES (''), (estimated_events.user_id)) AS scope(user_id)
    WHERE scope.user_id IS NOT NULL GROUP BY 1, 2, 3) made
  WHERE known.app_id = made.app_id AND known.user_id = made.user_id AND known.month = made.month`;

/**
 * Estimates of calls with unknown usage, as one more measure of every sum of usage, and as a part of the spent budget.
 * Filled from the events that count more than they cost. The sums of all users follow those of single ones by their
 * triggers, which get the new column first; rows stored by the previous version lack it.
 */
export class ShowEstimates1763600000028 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) {
      await runner.query(`ALTER TABLE ${table} ADD COLUMN estimated_nano_usd numeric NOT NULL DEFAULT 0`);
    }
    await runner.query('ALTER TABLE budget_months ADD COLUMN estimated_nano_usd bigint NOT NULL DEFAULT 0');
    await replaceTriggers(runner, MEASURES);
    await runner.query(ESTIMATED);
    for (const fill of [FILL_DAYS, FILL_USER_DAYS, FILL_USER_MONTHS, FILL_BUDGETS]) await runner.query(fill);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceTriggers(runner, MEASURES_BEFORE);
    for (const table of [...TABLES, 'budget_months']) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN estimated_nano_usd`);
    }
  }
}

/** The functions of migration 12, with other measures. */
async function replaceTriggers(runner: QueryRunner, measures: readonly string[]): Promise<void> {
  const columns = measures.join(', ');
  const negative = measures.map((name) => `- ${name}`).join(', ');
  const sums = measures.map((name) => `sum(${name}) AS ${name}`).join(', ');
  const added = `SELECT organization_id, app_id, day, ${columns} FROM added`;
  const removed = `SELECT organization_id, app_id, day, ${negative} FROM before`;
  const raise = (delta: string) => `
    INSERT INTO usage_all_users_days AS known (organization_id, app_id, day, writer, ${columns})
    SELECT organization_id, app_id, day, pg_backend_pid(), ${sums} FROM (${delta}) delta
    GROUP BY organization_id, app_id, day
    ON CONFLICT (app_id, day, organization_id, writer) DO UPDATE SET
      ${measures.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;
  const takeUp = `
    WITH taken AS (
      DELETE FROM usage_all_users_days WHERE ctid = ANY (ARRAY(
        SELECT known.ctid FROM usage_all_users_days known
        WHERE (known.app_id, known.day) IN (SELECT app_id, day FROM before) FOR UPDATE SKIP LOCKED))
      RETURNING organization_id, app_id, day, ${columns})
    INSERT INTO usage_all_users_days (organization_id, app_id, day, writer, ${columns})
    SELECT organization_id, app_id, day, pg_backend_pid(), ${sums}
    FROM (
      SELECT * FROM taken
      UNION ALL
      ${removed}) rest
    GROUP BY organization_id, app_id, day
    HAVING ${measures.map((name) => `sum(${name}) <> 0`).join(' OR ')}`;
  await replaceTrigger(runner, 'insert', raise(added));
  await replaceTrigger(runner, 'update', raise(`${added} UNION ALL ${removed}`));
  await replaceTrigger(runner, 'delete', takeUp);
}

async function replaceTrigger(runner: QueryRunner, change: string, action: string): Promise<void> {
  await runner.query(`
    CREATE OR REPLACE FUNCTION sum_users_on_${change}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${action};
      RETURN NULL;
    END $$`);
}
