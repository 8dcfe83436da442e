import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Applications and their API keys. The configuration is `json`, not `jsonb`, so that free members keep their order. */
export class CreateApps1763600000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE apps (
        id text CONSTRAINT apps_pkey PRIMARY KEY,
        organization_id text NOT NULL CONSTRAINT apps_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        name text NOT NULL,
        config json NOT NULL,
        authentication_type text NOT NULL,
        revision integer NOT NULL,
        status text NOT NULL CONSTRAINT apps_status_check CHECK (status IN ('active', 'disabled')),
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX apps_organization_idx ON apps (organization_id, id)');
    await runner.query(`
      CREATE TABLE app_keys (
        id text CONSTRAINT app_keys_pkey PRIMARY KEY,
        organization_id text NOT NULL,
        app_id text NOT NULL CONSTRAINT app_keys_app_fkey REFERENCES apps ON DELETE CASCADE,
        name text NOT NULL,
        key_hash text NOT NULL CONSTRAINT app_keys_key_hash_key UNIQUE,
        key_prefix text NOT NULL,
        status text NOT NULL CONSTRAINT app_keys_status_check CHECK (status IN ('active', 'revoked')),
        created_at timestamptz NOT NULL,
        revoked_at timestamptz,
        last_used_at timestamptz
      )`);
    await runner.query('CREATE INDEX app_keys_app_idx ON app_keys (organization_id, app_id, created_at DESC)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE app_keys, apps');
  }
}
