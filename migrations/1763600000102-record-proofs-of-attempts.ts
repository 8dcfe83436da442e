import type { MigrationInterface, QueryRunner } from 'typeorm';

const METHODS = "'attest', 'api_key', 'key_attestation'";

/** Which proof an attempt offered and what it said; tokens of devices that proved nothing. */
export class RecordProofsOfAttempts1763600000102 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE auth_events
        ADD COLUMN proof text,
        ADD COLUMN facts jsonb,
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (auth_method IN (${METHODS}, 'unproven'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM auth_events WHERE auth_method = 'unproven'");
    await runner.query(`
      ALTER TABLE auth_events
        DROP COLUMN proof,
        DROP COLUMN facts,
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (auth_method IN (${METHODS}))`);
  }
}
