import type { MigrationInterface, QueryRunner } from 'typeorm';

const SUMMED = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'estimated_nano_usd',
];

const MEASURES = [...SUMMED, 'errors', 'blocked'];

const KEY = 'organization_id, day, app_id, group_name, group_value';

/** Events as rows of the sums of each of their groups; removed ones have the opposite sign. */
function ofGroups(relation: string, sign: '' | '-' = ''): string {
  const measures = SUMMED.filter((name) => name !== 'estimated_nano_usd').map((name) => `${sign}${name} AS ${name}`);
  return `
    SELECT organization_id, (created_at AT TIME ZONE 'UTC')::date AS day, app_id, named.group_name, named.group_value,
      ${measures.join(', ')},
      ${sign}greatest(coalesce(charged_nano_usd, cost_nano_usd) - cost_nano_usd, 0) AS estimated_nano_usd,
      CASE status WHEN 'provider_error' THEN ${sign}requests ELSE 0 END AS errors,
      CASE WHEN starts_with(status, 'blocked_') THEN ${sign}requests ELSE 0 END AS blocked
    FROM ${relation} CROSS JOIN LATERAL jsonb_each_text(groups) AS named(group_name, group_value)`;
}

/** Adds rows of `ofGroups`, in a fixed order, so that concurrent statements do not deadlock. */
const addGroups = (rows: string) => `
  INSERT INTO usage_group_days AS known (${KEY}, ${MEASURES.join(', ')})
  SELECT ${KEY}, ${MEASURES.map((name) => `sum(${name})`).join(', ')} FROM (${rows}) delta GROUP BY ${KEY}
  HAVING ${MEASURES.map((name) => `sum(${name}) <> 0`).join(' OR ')}
  ORDER BY ${KEY.split(', ')
    .map((name) => (name === 'day' ? name : `${name} COLLATE "C"`))
    .join(', ')}
  ON CONFLICT (${KEY}) DO UPDATE SET ${MEASURES.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

/**
 * Groups, runs and limits of tokens. An event names its groups (`groups`), the budgets it is charged to besides those
 * of its application and user (`limits`), and the tokens that count against token limits. Periods of a minute need a
 * time, so the start of a period becomes one, in UTC. The amounts of `budget_periods` and `budget_grants` are in the
 * unit of the window: nano-dollars, tokens or requests.
 */
export class CountGroupsRunsAndTokens1763600000091 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE usage_events ADD COLUMN groups jsonb, ADD COLUMN limits jsonb, ADD COLUMN charged_tokens bigint',
    );
    for (const table of ['budget_periods', 'budget_grants'])
      await runner.query(`ALTER TABLE ${table} ALTER COLUMN period_start TYPE timestamp`);
    await runner.query(`
      CREATE TABLE budget_runs (
        app_id text NOT NULL,
        user_id text NOT NULL,
        run_id text NOT NULL,
        organization_id text NOT NULL,
        budget_nano_usd bigint NOT NULL,
        started_at timestamptz NOT NULL,
        called_at timestamptz NOT NULL,
        CONSTRAINT budget_runs_pkey PRIMARY KEY (app_id, user_id, run_id)
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX budget_runs_called_idx ON budget_runs (called_at)');
    await runner.query(`
      CREATE TABLE usage_group_days (
        organization_id text NOT NULL,
        day date NOT NULL,
        app_id text NOT NULL,
        group_name text NOT NULL,
        group_value text NOT NULL,
        ${MEASURES.map((name) => `${name} numeric NOT NULL`).join(', ')},
        CONSTRAINT usage_group_days_pkey PRIMARY KEY (${KEY})
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX usage_group_days_day_idx ON usage_group_days (day)');
    await createTrigger(runner, 'insert', 'NEW TABLE AS added', addGroups(ofGroups('added')));
    await createTrigger(
      runner,
      'update',
      'OLD TABLE AS before NEW TABLE AS added',
      addGroups(`${ofGroups('added')} UNION ALL ${ofGroups('before', '-')}`),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const change of ['insert', 'update']) {
      await runner.query(`DROP TRIGGER sum_groups_on_${change} ON usage_events`);
      await runner.query(`DROP FUNCTION sum_groups_on_${change}`);
    }
    await runner.query('DROP TABLE usage_group_days');
    await runner.query('DROP TABLE budget_runs');
    for (const table of ['budget_grants', 'budget_periods']) {
      await runner.query(
        `DELETE FROM ${table} WHERE scope NOT IN ('app', 'user') OR window_name NOT IN ('day', 'week', 'month', 'total')`,
      );
      await runner.query(`ALTER TABLE ${table} ALTER COLUMN period_start TYPE date`);
    }
    await runner.query('ALTER TABLE usage_events DROP COLUMN groups, DROP COLUMN limits, DROP COLUMN charged_tokens');
  }
}

async function createTrigger(runner: QueryRunner, change: string, referencing: string, action: string): Promise<void> {
  await runner.query(`
    CREATE FUNCTION sum_groups_on_${change}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${action}; RETURN NULL; END $$`);
  await runner.query(`
    CREATE TRIGGER sum_groups_on_${change} AFTER ${change} ON usage_events
    REFERENCING ${referencing} FOR EACH STATEMENT EXECUTE FUNCTION sum_groups_on_${change}()`);
}
