import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Connections of OAuth clients: credentials like management keys, with generations of tokens instead of one key. */
export class ConnectClients1763600000040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE management_keys
        ALTER COLUMN token_hash DROP NOT NULL,
        ADD COLUMN client_id text,
        ADD COLUMN last_used_at timestamptz,
        ADD CONSTRAINT management_keys_client_check CHECK ((source = 'oauth') = (client_id IS NOT NULL)),
        ADD CONSTRAINT management_keys_token_check CHECK ((source = 'oauth') = (token_hash IS NULL))`);
    await runner.query(`
      CREATE TABLE oauth_tokens (
        connection_id text NOT NULL CONSTRAINT oauth_tokens_connection_fkey REFERENCES management_keys ON DELETE CASCADE,
        generation integer NOT NULL,
        audience text NOT NULL CONSTRAINT oauth_tokens_audience_check CHECK (audience IN ('api', 'mcp')),
        access_hash text NOT NULL CONSTRAINT oauth_tokens_access_key UNIQUE,
        access_expires_at timestamptz NOT NULL,
        refresh_hash text NOT NULL CONSTRAINT oauth_tokens_refresh_key UNIQUE,
        sealed_answer text NOT NULL,
        answer_until timestamptz NOT NULL,
        CONSTRAINT oauth_tokens_pkey PRIMARY KEY (connection_id, generation)
      )`);
    await runner.query(`
      CREATE TABLE oauth_authorizations (
        id text CONSTRAINT oauth_authorizations_pkey PRIMARY KEY,
        state text NOT NULL
          CONSTRAINT oauth_authorizations_state_check CHECK (state IN ('pending', 'completed', 'denied')),
        client json NOT NULL,
        redirect_uri text NOT NULL,
        client_state text,
        audience text NOT NULL CONSTRAINT oauth_authorizations_audience_check CHECK (audience IN ('api', 'mcp')),
        requested_grant text NOT NULL
          CONSTRAINT oauth_authorizations_grant_check CHECK (requested_grant IN ('read', 'manage')),
        code_challenge text NOT NULL,
        proof_hash text NOT NULL,
        sealed_code text NOT NULL,
        address text NOT NULL,
        connection_id text,
        organization_id text
          CONSTRAINT oauth_authorizations_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        code_used_at timestamptz,
        kept_until timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX oauth_authorizations_address_idx ON oauth_authorizations (address, expires_at)');
    await runner.query('CREATE INDEX oauth_authorizations_kept_idx ON oauth_authorizations (kept_until)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE oauth_authorizations');
    await runner.query('DROP TABLE oauth_tokens');
    await runner.query("DELETE FROM management_keys WHERE source = 'oauth'");
    await runner.query(`
      ALTER TABLE management_keys
        DROP CONSTRAINT management_keys_client_check,
        DROP CONSTRAINT management_keys_token_check,
        DROP COLUMN client_id,
        DROP COLUMN last_used_at,
        ALTER COLUMN token_hash SET NOT NULL`);
  }
}
