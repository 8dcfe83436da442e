import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `gateway_instances.open_calls`: requests of an instance whose events are not stored yet, as of its last heartbeat;
 * null if not reported. Counters of requests are ahead of the events by at most this many.
 */
export class TellOpenCalls1763600000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances ADD COLUMN open_calls bigint');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN open_calls');
  }
}
