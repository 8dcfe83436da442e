import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The last test of a stored key, for lists. */
export class KeepProviderTests1763600000065 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE providers
        ADD COLUMN tested_at timestamptz,
        ADD COLUMN test_result text,
        ADD CONSTRAINT providers_test_check CHECK ((tested_at IS NULL) = (test_result IS NULL)),
        ADD CONSTRAINT providers_test_result_check
          CHECK (test_result IN ('accepted', 'refused', 'unreachable', 'unexpected_status'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE providers DROP COLUMN test_result, DROP COLUMN tested_at');
  }
}
