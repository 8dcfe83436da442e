import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys that Play Integrity vouches for, and the sealed credentials that decode its tokens. */
export class TakePlayIntegrity1763600000111 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE play_credentials (
        id text,
        organization_id text NOT NULL,
        app_id text NOT NULL,
        kind text NOT NULL CONSTRAINT play_credentials_kind_check CHECK (kind IN ('service_account', 'response_keys')),
        secret_blob text NOT NULL,
        hint text NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT play_credentials_pkey PRIMARY KEY (id),
        CONSTRAINT play_credentials_app_key UNIQUE (app_id, kind),
        CONSTRAINT play_credentials_app_fkey FOREIGN KEY (app_id) REFERENCES apps (id) ON DELETE CASCADE)`);
    await runner.query(`
      ALTER TABLE device_keys
        DROP CONSTRAINT device_keys_proof_check,
        ADD CONSTRAINT device_keys_proof_check CHECK (
          proof IN ('app_attest', 'key_attestation', 'play_integrity')
          AND (proof = 'app_attest') = (environment IS NOT NULL))`);
    await runner.query(`
      ALTER TABLE auth_events
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (
          auth_method IN ('attest', 'api_key', 'key_attestation', 'play_integrity', 'unproven'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("DELETE FROM auth_events WHERE auth_method = 'play_integrity'");
    await runner.query(`
      ALTER TABLE auth_events
        DROP CONSTRAINT auth_events_auth_method_check,
        ADD CONSTRAINT auth_events_auth_method_check CHECK (
          auth_method IN ('attest', 'api_key', 'key_attestation', 'unproven'))`);
    await runner.query("DELETE FROM device_keys WHERE proof = 'play_integrity'");
    await runner.query(`
      ALTER TABLE device_keys
        DROP CONSTRAINT device_keys_proof_check,
        ADD CONSTRAINT device_keys_proof_check CHECK (
          proof IN ('app_attest', 'key_attestation') AND (proof = 'app_attest') = (environment IS NOT NULL))`);
    await runner.query('DROP TABLE play_credentials');
  }
}
