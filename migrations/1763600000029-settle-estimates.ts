import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `usage_events.settled_at`: when people said what a call cost that nobody had heard the usage of. */
export class SettleEstimates1763600000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN settled_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events DROP COLUMN settled_at');
  }
}
