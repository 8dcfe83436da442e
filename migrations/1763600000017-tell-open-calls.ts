import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `gateway_instances.open_calls`: requests of an instance whose events are not stored yet, as it told with its last sign
 * of life; null where it has not told. Counters of requests are ahead of the events by no more.
 */
export class TellOpenCalls1763600000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances ADD COLUMN open_calls bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN open_calls');
  }
}
