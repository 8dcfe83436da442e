import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why the last step of an operation was refused. */
export class KeepOperationFailures1763600000049 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE cli_operations ADD COLUMN failure json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE cli_operations DROP COLUMN failure');
  }
}
