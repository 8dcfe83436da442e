import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `app_keys.expires_at`: when a key stops authenticating; null if it does not expire. */
export class ExpireAppKeys1763600000071 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE app_keys ADD COLUMN expires_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE app_keys DROP COLUMN expires_at');
  }
}
