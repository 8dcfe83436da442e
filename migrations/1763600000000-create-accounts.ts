import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Organizations, the identities in them, their roles and their management keys. */
export class CreateAccounts1763600000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE organizations (
        id text CONSTRAINT organizations_pkey PRIMARY KEY,
        name text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz
      )`);
    await runner.query(`
      CREATE TABLE identities (
        id text CONSTRAINT identities_pkey PRIMARY KEY,
        kind text NOT NULL CONSTRAINT identities_kind_check CHECK (kind IN ('human', 'service')),
        name text,
        email text,
        created_at timestamptz NOT NULL,
        CONSTRAINT identities_email_check CHECK ((kind = 'human') = (email IS NOT NULL))
      )`);
    await runner.query('CREATE UNIQUE INDEX identities_email_key ON identities (lower(email))');
    await runner.query(`
      CREATE TABLE memberships (
        organization_id text NOT NULL CONSTRAINT memberships_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text NOT NULL CONSTRAINT memberships_identity_fkey REFERENCES identities ON DELETE CASCADE,
        role text NOT NULL CONSTRAINT memberships_role_check CHECK (role IN ('owner', 'admin', 'member')),
        joined_at timestamptz NOT NULL,
        CONSTRAINT memberships_pkey PRIMARY KEY (organization_id, identity_id)
      )`);
    await runner.query('CREATE INDEX memberships_identity_idx ON memberships (identity_id)');
    await runner.query(`
      CREATE TABLE management_keys (
        id text CONSTRAINT management_keys_pkey PRIMARY KEY,
        organization_id text NOT NULL CONSTRAINT management_keys_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text NOT NULL CONSTRAINT management_keys_identity_fkey REFERENCES identities ON DELETE CASCADE,
        name text NOT NULL,
        token_hash text NOT NULL CONSTRAINT management_keys_token_hash_key UNIQUE,
        token_hint text NOT NULL,
        access_grant text NOT NULL CONSTRAINT management_keys_grant_check CHECK (access_grant IN ('read', 'manage')),
        source text NOT NULL CONSTRAINT management_keys_source_check CHECK (source IN ('console', 'cli', 'bootstrap', 'oauth')),
        label text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz
      )`);
    await runner.query('CREATE INDEX management_keys_organization_idx ON management_keys (organization_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE management_keys, memberships, identities, organizations');
  }
}
