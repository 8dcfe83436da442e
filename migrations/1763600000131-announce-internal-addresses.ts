import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where other instances reach a process directly, which asks for that with `INTERNAL_URL`. */
export class AnnounceInternalAddresses1763600000131 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances ADD COLUMN internal_url text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN internal_url');
  }
}
