import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys of Android devices in addition to those of App Attest, with the facts of their attestation. */
export class TakeProofsOfPhones1763600000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE device_keys
        ADD COLUMN proof text NOT NULL DEFAULT 'app_attest',
        ADD COLUMN facts jsonb,
        ADD COLUMN chain_serials text[],
        ALTER COLUMN environment DROP NOT NULL,
        ADD CONSTRAINT device_keys_proof_check CHECK (
          proof IN ('app_attest', 'key_attestation') AND (proof = 'app_attest') = (environment IS NOT NULL))`);
    await runner.query(`
      ALTER TABLE auth_events
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (auth_method IN ('attest', 'api_key', 'key_attestation'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM auth_events WHERE auth_method = 'key_attestation'");
    await runner.query(`
      ALTER TABLE auth_events
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (auth_method IN ('attest', 'api_key'))`);
    await runner.query("DELETE FROM device_keys WHERE proof = 'key_attestation'");
    await runner.query(`
      ALTER TABLE device_keys
        DROP CONSTRAINT device_keys_proof_check,
        ALTER COLUMN environment SET NOT NULL,
        DROP COLUMN chain_serials,
        DROP COLUMN facts,
        DROP COLUMN proof`);
  }
}
