import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sign-in methods of people, their sessions, and the invitations into an organization. */
export class CreateSessions1763600000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE identities
        ADD COLUMN email_verified boolean NOT NULL DEFAULT false,
        ADD COLUMN image text,
        ADD COLUMN updated_at timestamptz`);
    await runner.query(`
      CREATE TABLE passwords (
        identity_id text CONSTRAINT passwords_pkey PRIMARY KEY
          CONSTRAINT passwords_identity_fkey REFERENCES identities ON DELETE CASCADE,
        password_hash text NOT NULL,
        changed_at timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE openid_subjects (
        provider text NOT NULL,
        subject text NOT NULL,
        identity_id text NOT NULL CONSTRAINT openid_subjects_identity_fkey REFERENCES identities ON DELETE CASCADE,
        created_at timestamptz NOT NULL,
        CONSTRAINT openid_subjects_pkey PRIMARY KEY (provider, subject)
      )`);
    await runner.query('CREATE INDEX openid_subjects_identity_idx ON openid_subjects (identity_id)');
    await runner.query(`
      CREATE TABLE sessions (
        id text CONSTRAINT sessions_pkey PRIMARY KEY,
        identity_id text NOT NULL CONSTRAINT sessions_identity_fkey REFERENCES identities ON DELETE CASCADE,
        token_hash text NOT NULL CONSTRAINT sessions_token_hash_key UNIQUE,
        address text,
        user_agent text,
        created_at timestamptz NOT NULL,
        renewed_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX sessions_identity_idx ON sessions (identity_id)');
    await runner.query('CREATE INDEX sessions_expires_idx ON sessions (expires_at)');
    await runner.query(`
      CREATE TABLE invitations (
        id text CONSTRAINT invitations_pkey PRIMARY KEY,
        organization_id text NOT NULL CONSTRAINT invitations_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        role text NOT NULL CONSTRAINT invitations_role_check CHECK (role IN ('owner', 'admin', 'member')),
        email text,
        token_hash text NOT NULL CONSTRAINT invitations_token_hash_key UNIQUE,
        invited_by text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        accepted_at timestamptz,
        accepted_by text,
        revoked_at timestamptz,
        CONSTRAINT invitations_ended_once_check CHECK (accepted_at IS NULL OR revoked_at IS NULL)
      )`);
    await runner.query('CREATE INDEX invitations_organization_idx ON invitations (organization_id, created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE invitations, sessions, openid_subjects, passwords');
    await runner.query('ALTER TABLE identities DROP COLUMN email_verified, DROP COLUMN image, DROP COLUMN updated_at');
  }
}
