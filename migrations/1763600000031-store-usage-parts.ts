import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The parts of an event's usage with separate rates, by name; null without any, and in earlier events. */
export class StoreUsageParts1763600000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN usage_parts jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events DROP COLUMN usage_parts');
  }
}
