import type { MigrationInterface, QueryRunner } from 'typeorm';

const KEY = 'app_id, scope, subject, window_name, period_start';
const UTC_DAY = "(now() AT TIME ZONE 'UTC')::date";
const CHARGE = 'cost_nano_usd + estimated_nano_usd';

/**
 * Daily, weekly and total budgets in addition to monthly ones. A row is one budget in one period: `scope` is its owner
 * (`app`, `user`), `subject` the user (empty for the application), `window_name` the kind of period. The amounts spent
 * in current periods are computed from the sums of usage.
 */
export class CreateBudgetPeriods1763600000090 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE budget_months RENAME TO budget_periods');
    for (const table of ['budget_periods', 'budget_grants']) {
      await runner.query(`ALTER TABLE ${table} RENAME COLUMN user_id TO subject`);
      await runner.query(`ALTER TABLE ${table} RENAME COLUMN month TO period_start`);
      await runner.query(`ALTER TABLE ${table} ADD COLUMN scope text, ADD COLUMN window_name text`);
      await runner.query(
        `UPDATE ${table} SET scope = CASE subject WHEN '' THEN 'app' ELSE 'user' END, window_name = 'month'`,
      );
      await runner.query(`ALTER TABLE ${table} ALTER scope SET NOT NULL, ALTER window_name SET NOT NULL`);
    }
    await runner.query(`
      ALTER TABLE budget_periods DROP CONSTRAINT budget_months_pkey,
        ADD CONSTRAINT budget_periods_pkey PRIMARY KEY (${KEY})`);
    await runner.query(
      'ALTER TABLE budget_periods RENAME CONSTRAINT budget_months_granted_check TO budget_periods_granted_check',
    );
    await runner.query(`
      ALTER TABLE budget_grants DROP CONSTRAINT budget_grants_pkey,
        ADD CONSTRAINT budget_grants_pkey PRIMARY KEY (${KEY}, instance_id)`);
    await runner.query('ALTER INDEX budget_months_month_idx RENAME TO budget_periods_start_idx');
    await runner.query('DROP INDEX budget_months_spent_idx');
    await runner.query(`
      CREATE INDEX budget_periods_spent_idx ON budget_periods (app_id, period_start, spent_size DESC, subject)
        WHERE scope = 'user' AND window_name = 'month' AND spent_size > 0`);
    await this.countWhatWasSpent(runner);
    await runner.query('ANALYZE budget_periods');
  }

  private async countWhatWasSpent(runner: QueryRunner): Promise<void> {
    const insert = `INSERT INTO budget_periods (organization_id, ${KEY}, spent_nano_usd, estimated_nano_usd)`;
    const byDay = `
      SELECT organization_id, app_id, 'app' AS scope, '' AS subject, day, ${CHARGE} AS spent, estimated_nano_usd AS estimated
      FROM usage_days
      UNION ALL
      SELECT organization_id, app_id, 'user', user_id, day, ${CHARGE}, estimated_nano_usd FROM usage_user_days`;
    await runner.query(`
      ${insert}
      SELECT min(organization_id), app_id, scope, subject, period.name, period.start, sum(spent), sum(estimated)
      FROM (${byDay}) used CROSS JOIN LATERAL (VALUES
        ('day', used.day), ('week', date_trunc('week', used.day::timestamp)::date)) AS period(name, start)
      WHERE used.day >= date_trunc('week', ${UTC_DAY}::timestamp)::date
      GROUP BY app_id, scope, subject, period.name, period.start HAVING sum(spent) > 0`);
    await runner.query(`
      ${insert}
      SELECT min(organization_id), app_id, 'app', '', 'total', 'epoch', sum(spent_nano_usd), sum(estimated_nano_usd)
      FROM budget_periods WHERE scope = 'app' AND window_name = 'month' GROUP BY app_id HAVING sum(spent_nano_usd) > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX budget_periods_spent_idx');
    for (const table of ['budget_grants', 'budget_periods']) {
      await runner.query(`DELETE FROM ${table} WHERE scope NOT IN ('app', 'user') OR window_name <> 'month'`);
    }
    await runner.query(`
      ALTER TABLE budget_grants DROP CONSTRAINT budget_grants_pkey,
        ADD CONSTRAINT budget_grants_pkey PRIMARY KEY (app_id, subject, period_start, instance_id)`);
    await runner.query(`
      ALTER TABLE budget_periods DROP CONSTRAINT budget_periods_pkey,
        ADD CONSTRAINT budget_months_pkey PRIMARY KEY (app_id, subject, period_start)`);
    await runner.query(
      'ALTER TABLE budget_periods RENAME CONSTRAINT budget_periods_granted_check TO budget_months_granted_check',
    );
    await runner.query('ALTER INDEX budget_periods_start_idx RENAME TO budget_months_month_idx');
    for (const table of ['budget_periods', 'budget_grants']) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN scope, DROP COLUMN window_name`);
      await runner.query(`ALTER TABLE ${table} RENAME COLUMN subject TO user_id`);
      await runner.query(`ALTER TABLE ${table} RENAME COLUMN period_start TO month`);
    }
    await runner.query('ALTER TABLE budget_periods RENAME TO budget_months');
    await runner.query(`
      CREATE INDEX budget_months_spent_idx ON budget_months (app_id, month, spent_size DESC, user_id)
        WHERE spent_size > 0`);
  }
}
