import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `audit_events.changes`: the members that a change of configuration changed, with their old and new values. */
export class RecordChangedValues1763600000072 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_events ADD COLUMN changes json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_events DROP COLUMN changes');
  }
}
