import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Finds old sums of usage of all accounts. Rows that still have a route, and those that were summed up further, are
 * searched separately: the latter are many and kept for long.
 */
export class IndexUsageByAge1763600000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX usage_days_fine_idx ON usage_days (day) WHERE route IS NOT NULL');
    await runner.query('CREATE INDEX usage_days_coarse_idx ON usage_days (day) WHERE route IS NULL');
    await runner.query('CREATE INDEX usage_user_days_day_idx ON usage_user_days (day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of ['usage_days_fine_idx', 'usage_days_coarse_idx', 'usage_user_days_day_idx']) {
      await runner.query(`DROP INDEX ${index}`);
    }
  }
}
