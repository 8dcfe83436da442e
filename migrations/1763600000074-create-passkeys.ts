import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Passkeys of people, and the challenges that a browser signs with one. */
export class CreatePasskeys1763600000074 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE passkeys (
        id text CONSTRAINT passkeys_pkey PRIMARY KEY,
        identity_id text NOT NULL
          CONSTRAINT passkeys_identity_fkey REFERENCES identities (id) ON DELETE CASCADE,
        credential_id text NOT NULL CONSTRAINT passkeys_credential_key UNIQUE,
        public_key bytea NOT NULL,
        counter bigint NOT NULL,
        name text NOT NULL,
        created_at timestamptz NOT NULL,
        last_used_at timestamptz
      )`);
    await runner.query('CREATE INDEX passkeys_identity_idx ON passkeys (identity_id)');
    await runner.query(`
      CREATE TABLE passkey_challenges (
        challenge_hash text CONSTRAINT passkey_challenges_pkey PRIMARY KEY,
        purpose text NOT NULL CONSTRAINT passkey_challenges_purpose_check CHECK (purpose IN ('register', 'sign_in')),
        binding_hash text NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX passkey_challenges_expires_idx ON passkey_challenges (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE passkey_challenges');
    await runner.query('DROP TABLE passkeys');
  }
}
