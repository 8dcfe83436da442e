import type { MigrationInterface, QueryRunner } from 'typeorm';

const MEASURES = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'errors',
  'blocked',
];

const COLUMNS = MEASURES.join(', ');

const SUMS = MEASURES.map((name) => `sum(${name}) AS ${name}`).join(', ');

const NEGATIVE = MEASURES.map((name) => `- ${name}`).join(', ');

const WHAT_CHANGED: Readonly<Record<string, { readonly referencing: string; readonly delta: string }>> = {
  insert: {
    referencing: 'NEW TABLE AS added',
    delta: `SELECT organization_id, app_id, day, ${COLUMNS} FROM added`,
  },
  update: {
    referencing: 'OLD TABLE AS before NEW TABLE AS added',
    delta: `SELECT organization_id, app_id, day, ${COLUMNS} FROM added
      UNION ALL SELECT organization_id, app_id, day, ${NEGATIVE} FROM before`,
  },
};

/** Users with fewer requests in a month are of size 0; above it there are four sizes per doubling. */
const SMALLEST_SIZE = 16;

const SIZES = [...new Set(Array.from({ length: 100 }, (_, size) => Math.round(SMALLEST_SIZE * 2 ** (size / 4))))];

/**
 * What all users of an application used together on a UTC day, kept in step with `usage_user_days` by the statements
 * that change it: reports by user need that sum and could not add up millions of rows for it.
 *
 * The sum is spread over the rows of a day, one for each connection that wrote: each changes only its own rows and
 * waits for no other. A statement that deletes the usage of a day merges its rows, except those that others are
 * changing; the sum does not change, and no row of zero remains.
 *
 * Those reports also need the busiest users of a month. `size` is a rough measure of activity, so that its index is
 * small and rarely changes: rows of `usage_user_months` are rewritten often, which is cheap as long as no indexed
 * column changes.
 */
export class SumUsersOfDays1763600000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_all_users_days (
        organization_id text NOT NULL,
        app_id text NOT NULL,
        day date NOT NULL,
        writer integer NOT NULL,
        ${MEASURES.map((name) => `${name} numeric NOT NULL`).join(', ')},
        CONSTRAINT usage_all_users_days_pkey PRIMARY KEY (app_id, day, organization_id, writer)
      ) WITH (fillfactor = 70)`);
    for (const [change, { referencing, delta }] of Object.entries(WHAT_CHANGED)) {
      await createTrigger(runner, change, referencing, raise(delta));
    }
    await createTrigger(runner, 'delete', 'OLD TABLE AS before', TAKE_UP);
    await runner.query(`
      INSERT INTO usage_all_users_days (organization_id, app_id, day, writer, ${COLUMNS})
      SELECT organization_id, app_id, day, 0, ${SUMS} FROM usage_user_days GROUP BY organization_id, app_id, day`);
    await runner.query(`
      CREATE FUNCTION usage_size(requests bigint) RETURNS integer LANGUAGE sql IMMUTABLE
        AS $$ SELECT width_bucket(requests, '{${SIZES.join(', ')}}'::bigint[]) $$`);
    await runner.query(`
      ALTER TABLE usage_user_months ADD COLUMN size integer GENERATED ALWAYS AS (usage_size(requests)) STORED`);
    await runner.query(`
      CREATE INDEX usage_user_months_size_idx ON usage_user_months (app_id, month, size DESC, user_id) WHERE size > 0`);
    await runner.query('ANALYZE usage_all_users_days, usage_user_months');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_user_months_size_idx');
    await runner.query('ALTER TABLE usage_user_months DROP COLUMN size');
    await runner.query('DROP FUNCTION usage_size');
    for (const change of ['insert', 'update', 'delete']) {
      await runner.query(`DROP TRIGGER sum_users_on_${change} ON usage_user_days`);
      await runner.query(`DROP FUNCTION sum_users_on_${change}`);
    }
    await runner.query('DROP TABLE usage_all_users_days');
  }
}

const raise = (delta: string) => `
  INSERT INTO usage_all_users_days AS known (organization_id, app_id, day, writer, ${COLUMNS})
  SELECT organization_id, app_id, day, pg_backend_pid(), ${SUMS} FROM (${delta}) delta
  GROUP BY organization_id, app_id, day
  ON CONFLICT (app_id, day, organization_id, writer) DO UPDATE SET
    ${MEASURES.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

const TAKE_UP = `
  WITH taken AS (
    DELETE FROM usage_all_users_days WHERE ctid = ANY (ARRAY(
      SELECT known.ctid FROM usage_all_users_days known
      WHERE (known.app_id, known.day) IN (SELECT app_id, day FROM before) FOR UPDATE SKIP LOCKED))
    RETURNING organization_id, app_id, day, ${COLUMNS})
  INSERT INTO usage_all_users_days (organization_id, app_id, day, writer, ${COLUMNS})
  SELECT organization_id, app_id, day, pg_backend_pid(), ${SUMS}
  FROM (
    SELECT * FROM taken
    UNION ALL
    SELECT organization_id, app_id, day, ${NEGATIVE} FROM before) rest
  GROUP BY organization_id, app_id, day
  HAVING ${MEASURES.map((name) => `sum(${name}) <> 0`).join(' OR ')}`;

async function createTrigger(runner: QueryRunner, change: string, referencing: string, action: string): Promise<void> {
  await runner.query(`
    CREATE FUNCTION sum_users_on_${change}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${action};
      RETURN NULL;
    END $$`);
  await runner.query(`
    CREATE TRIGGER sum_users_on_${change} AFTER ${change.toUpperCase()} ON usage_user_days
    REFERENCING ${referencing} FOR EACH STATEMENT EXECUTE FUNCTION sum_users_on_${change}()`);
}
