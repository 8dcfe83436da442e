import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `gateway_instances.settled_until`: events of earlier times that an instance records are stored. Null: it has not
 * published it, or is of the previous version.
 */
export class PublishSettledUsage1763600000130 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances ADD COLUMN settled_until timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN settled_until');
  }
}
