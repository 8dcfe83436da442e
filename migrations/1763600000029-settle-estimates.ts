import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `usage_events.settled_at`: when a person set the cost of a call with unknown usage. */
export class SettleEstimates1763600000029 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN settled_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events DROP COLUMN settled_at');
  }
}
