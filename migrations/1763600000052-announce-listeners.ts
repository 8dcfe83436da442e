import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `gateway_instances.listens_at`: the address of an instance, as `host:port`. */
export class AnnounceListeners1763600000052 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query("ALTER TABLE gateway_instances ADD COLUMN listens_at text[] NOT NULL DEFAULT '{}'");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN listens_at');
  }
}
