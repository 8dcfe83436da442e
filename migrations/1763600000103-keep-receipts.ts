import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The receipt of an App Attest key, for a later version to judge. */
export class KeepReceipts1763600000103 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE device_keys ADD COLUMN receipt bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("UPDATE device_keys SET facts = NULL WHERE proof = 'app_attest'");
    await runner.query('ALTER TABLE device_keys DROP COLUMN receipt');
  }
}
