import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * End users of applications, the attestation keys of their devices, and the challenges those sign. All of them are
 * deleted with their application, each table in one statement: a key refers to its application and not to its user,
 * because users are not deleted alone.
 */
export class CreateEndUsers1763600000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE app_users (
        organization_id text NOT NULL,
        app_id text NOT NULL CONSTRAINT app_users_app_fkey REFERENCES apps ON DELETE CASCADE,
        id text NOT NULL,
        status text NOT NULL CONSTRAINT app_users_status_check CHECK (status IN ('active', 'blocked')),
        created_at timestamptz NOT NULL,
        last_seen_at timestamptz,
        claim_pending_since timestamptz,
        is_virtual boolean NOT NULL DEFAULT false,
        CONSTRAINT app_users_pkey PRIMARY KEY (app_id, id)
      )`);
    await runner.query(
      'CREATE INDEX app_users_recent_idx ON app_users (organization_id, app_id, (coalesce(last_seen_at, created_at)) DESC, id)',
    );
    await runner.query("CREATE INDEX app_users_blocked_idx ON app_users (app_id, id) WHERE status = 'blocked'");
    await runner.query(
      'CREATE INDEX app_users_claim_pending_idx ON app_users (app_id) WHERE claim_pending_since IS NOT NULL',
    );
    await runner.query(`
      CREATE TABLE device_keys (
        organization_id text NOT NULL,
        app_id text NOT NULL CONSTRAINT device_keys_app_fkey REFERENCES apps ON DELETE CASCADE,
        key_id text NOT NULL,
        user_id text NOT NULL,
        public_key text NOT NULL,
        counter bigint NOT NULL,
        environment text NOT NULL CONSTRAINT device_keys_environment_check CHECK (environment IN ('production', 'development')),
        created_at timestamptz NOT NULL,
        last_used_at timestamptz NOT NULL,
        CONSTRAINT device_keys_pkey PRIMARY KEY (app_id, key_id)
      )`);
    await runner.query('CREATE INDEX device_keys_user_idx ON device_keys (app_id, user_id, last_used_at DESC)');
    await runner.query(`
      CREATE TABLE auth_challenges (
        challenge text CONSTRAINT auth_challenges_pkey PRIMARY KEY,
        app_id text NOT NULL CONSTRAINT auth_challenges_app_fkey REFERENCES apps ON DELETE CASCADE,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX auth_challenges_app_idx ON auth_challenges (app_id)');
    await runner.query('CREATE INDEX auth_challenges_expiry_idx ON auth_challenges (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE auth_challenges, device_keys, app_users');
  }
}
