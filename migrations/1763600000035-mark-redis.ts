import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The Redis that an instance counts in, so that two with different ones notice; null: none, or it does not respond. */
export class MarkRedis1763600000035 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances ADD COLUMN redis_mark text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN redis_mark');
  }
}
