import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Columns that are summed by month. */
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

const COLUMNS = MEASURES.join(', ');

const SUMS = MEASURES.map((name) => `sum(${name}) AS ${name}`).join(', ');

/** The source tables, with the column of the UTC day or month of their rows. */
const SOURCES = { usage_days: 'day', usage_months: 'month' } as const;

type Source = keyof typeof SOURCES;

/** Rows of a source as rows of the sums; removed ones have the opposite sign. */
function measured(source: Source, relation: string, sign: '' | '-' = ''): string {
  const date = SOURCES[source];
  return `
    SELECT organization_id, app_id, date_trunc('month', ${date}::timestamp)::date AS month, ${date} AS first_day,
      ${SUMMED.map((name) => `${sign}${name} AS ${name}`).join(', ')},
      CASE status WHEN 'provider_error' THEN ${sign}requests ELSE 0 END AS errors,
      CASE WHEN starts_with(status, 'blocked_') THEN ${sign}requests ELSE 0 END AS blocked
    FROM ${relation}`;
}

const CHANGES = {
  insert: {
    referencing: 'NEW TABLE AS added',
    delta: (source: Source) => measured(source, 'added'),
  },
  update: {
    referencing: 'OLD TABLE AS before NEW TABLE AS added',
    delta: (source: Source) => `${measured(source, 'added')} UNION ALL ${measured(source, 'before', '-')}`,
  },
  delete: {
    referencing: 'OLD TABLE AS before',
    delta: (source: Source) => measured(source, 'before', '-'),
  },
};

/**
 * Usage of each application in each UTC month. Lists of applications show it; the days of ten thousand applications are
 * millions of rows.
 *
 * Triggers of `usage_days` and `usage_months` keep the sums, so that the previous version keeps them too. As in
 * `usage_all_users_days`, each connection changes only rows of its own, `writer`, so no statement waits for another;
 * the nightly job merges them.
 *
 * `first_day` is the first UTC day with usage; where the days were folded before this migration, the first of the
 * month.
 */
export class SumMonthsOfApps1763600000043 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_app_months (
        organization_id text NOT NULL,
        month date NOT NULL,
        app_id text NOT NULL,
        writer integer NOT NULL,
        first_day date NOT NULL,
        ${MEASURES.map((name) => `${name} numeric NOT NULL`).join(', ')},
        CONSTRAINT usage_app_months_pkey PRIMARY KEY (organization_id, month, app_id, writer)
      ) WITH (fillfactor = 70)`);
    // Without the locks, usage of events stored between the sum and the triggers would be missing.
    await runner.query('LOCK TABLE usage_days, usage_months IN SHARE ROW EXCLUSIVE MODE');
    await runner.query(`
      INSERT INTO usage_app_months (organization_id, month, app_id, writer, first_day, ${COLUMNS})
      SELECT organization_id, month, app_id, 0, min(first_day), ${SUMS}
      FROM (${measured('usage_days', 'usage_days')} UNION ALL ${measured('usage_months', 'usage_months')}) used
      GROUP BY organization_id, month, app_id`);
    for (const source of Object.keys(SOURCES) as Source[]) {
      for (const [change, { referencing, delta }] of Object.entries(CHANGES)) {
        await createTrigger(runner, `sum_apps_on_${change}_of_${source}`, {
          on: `${change.toUpperCase()} ON ${source} REFERENCING ${referencing}`,
          action: add(delta(source)),
        });
      }
    }
    await runner.query('ANALYZE usage_app_months');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const source of Object.keys(SOURCES)) {
      for (const change of Object.keys(CHANGES)) {
        await runner.query(`DROP TRIGGER sum_apps_on_${change}_of_${source} ON ${source}`);
        await runner.query(`DROP FUNCTION sum_apps_on_${change}_of_${source}`);
      }
    }
    await runner.query('DROP TABLE usage_app_months');
  }
}

const add = (delta: string) => `
  INSERT INTO usage_app_months AS known (organization_id, month, app_id, writer, first_day, ${COLUMNS})
  SELECT organization_id, month, app_id, pg_backend_pid(), min(first_day), ${SUMS} FROM (${delta}) delta
  GROUP BY organization_id, month, app_id
  ON CONFLICT (organization_id, month, app_id, writer) DO UPDATE SET
    first_day = least(known.first_day, excluded.first_day),
    ${MEASURES.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

interface Trigger {
  readonly on: string;
  readonly action: string;
}

async function createTrigger(runner: QueryRunner, name: string, { on, action }: Trigger): Promise<void> {
  await runner.query(`
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${action};
      RETURN NULL;
    END $$`);
  await runner.query(`CREATE TRIGGER ${name} AFTER ${on} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`);
}
