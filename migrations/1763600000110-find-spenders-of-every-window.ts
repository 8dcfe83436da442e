import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Users by the amount spent of a daily or weekly budget, as for the month: users at a limit are found in every window.
 */
export class FindSpendersOfEveryWindow1763600000110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX budget_periods_spent_idx');
    await runner.query(`
      CREATE INDEX budget_periods_spent_idx
        ON budget_periods (app_id, window_name, period_start, spent_size DESC, subject)
        WHERE scope = 'user' AND spent_size > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX budget_periods_spent_idx');
    await runner.query(`
      CREATE INDEX budget_periods_spent_idx ON budget_periods (app_id, period_start, spent_size DESC, subject)
        WHERE scope = 'user' AND window_name = 'month' AND spent_size > 0`);
  }
}
