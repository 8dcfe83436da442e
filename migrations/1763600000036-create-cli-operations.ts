import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests of a terminal that a person approves in a browser, and the permanent identity of the deployment. */
export class CreateCliOperations1763600000036 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE deployment (
        singleton boolean DEFAULT true CONSTRAINT deployment_pkey PRIMARY KEY,
        id text NOT NULL,
        CONSTRAINT deployment_singleton_check CHECK (singleton)
      )`);
    await runner.query('INSERT INTO deployment (id) VALUES (gen_random_uuid()::text)');
    await runner.query(`
      CREATE TABLE cli_operations (
        id text CONSTRAINT cli_operations_pkey PRIMARY KEY,
        kind text NOT NULL CONSTRAINT cli_operations_kind_check CHECK (kind IN ('bootstrap', 'login', 'claim', 'app.add',
          'app.key.add', 'provider.add', 'provider.update', 'provider.rotate-key', 'provider-gateway.add',
          'provider-gateway.rotate-key')),
        state text NOT NULL CONSTRAINT cli_operations_state_check CHECK (state IN ('pending', 'completed', 'denied')),
        organization_id text CONSTRAINT cli_operations_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text,
        credential_id text,
        address text,
        client json,
        payload json,
        request_hash text,
        proof_hash text,
        user_code_mac text,
        sealed_user_code text,
        loopback_redirect text,
        redeem_code_hash text,
        result json,
        sealed_result text,
        sealed_until timestamptz,
        delivered_at timestamptz,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        kept_until timestamptz NOT NULL
      )`);
    await runner.query(
      "CREATE UNIQUE INDEX cli_operations_user_code_key ON cli_operations (user_code_mac) WHERE state = 'pending'",
    );
    await runner.query('CREATE INDEX cli_operations_address_idx ON cli_operations (address, expires_at)');
    await runner.query('CREATE INDEX cli_operations_organization_idx ON cli_operations (organization_id, created_at)');
    await runner.query(
      'CREATE INDEX cli_operations_sealed_idx ON cli_operations (sealed_until) WHERE sealed_result IS NOT NULL',
    );
    await runner.query('CREATE INDEX cli_operations_kept_idx ON cli_operations (kept_until)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE cli_operations');
    await runner.query('DROP TABLE deployment');
  }
}
