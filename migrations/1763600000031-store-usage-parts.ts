import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What of an event's usage has rates of its own, by name; null where nothing has, and in what was stored before. */
export class StoreUsageParts1763600000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN usage_parts jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events DROP COLUMN usage_parts');
  }
}
