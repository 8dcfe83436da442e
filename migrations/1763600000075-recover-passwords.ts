import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Recovery codes of people, and links with which a person sets a new password. */
export class RecoverPasswords1763600000075 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE recovery_codes (
        identity_id text NOT NULL
          CONSTRAINT recovery_codes_identity_fkey REFERENCES identities (id) ON DELETE CASCADE,
        position smallint NOT NULL CONSTRAINT recovery_codes_position_check CHECK (position BETWEEN 0 AND 9),
        code_hash text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT recovery_codes_pkey PRIMARY KEY (identity_id, position)
      )`);
    await runner.query(`
      CREATE TABLE password_resets (
        token_hash text CONSTRAINT password_resets_pkey PRIMARY KEY,
        identity_id text NOT NULL CONSTRAINT password_resets_identity_key UNIQUE
          CONSTRAINT password_resets_identity_fkey REFERENCES identities (id) ON DELETE CASCADE,
        organization_id text NOT NULL
          CONSTRAINT password_resets_organization_fkey REFERENCES organizations (id) ON DELETE CASCADE,
        issuer_id text NOT NULL CONSTRAINT password_resets_issuer_fkey REFERENCES identities (id) ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX password_resets_organization_idx ON password_resets (organization_id)');
    await runner.query('CREATE INDEX password_resets_issuer_idx ON password_resets (issuer_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE password_resets');
    await runner.query('DROP TABLE recovery_codes');
  }
}
