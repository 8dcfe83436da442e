import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Connections to upstream gateways, and providers that are routed through one. A provider has its own key or a
 * gateway, never both. The reference prevents the deletion of a gateway in use, even with concurrent requests.
 */
export class CreateProviderGateways1763600000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE provider_gateways (
        id text CONSTRAINT provider_gateways_pkey PRIMARY KEY,
        organization_id text NOT NULL
          CONSTRAINT provider_gateways_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        type text NOT NULL,
        name text NOT NULL,
        config json NOT NULL,
        secret_blob text NOT NULL,
        secret_hint text NOT NULL,
        revision integer NOT NULL,
        status text NOT NULL CONSTRAINT provider_gateways_status_check CHECK (status IN ('active', 'revoked')),
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT provider_gateways_account_key UNIQUE (organization_id, id)
      )`);
    await runner.query(`
      ALTER TABLE providers
        ADD COLUMN provider_gateway_id text,
        ADD COLUMN gateway_route json,
        ADD CONSTRAINT providers_gateway_fkey
          FOREIGN KEY (organization_id, provider_gateway_id) REFERENCES provider_gateways (organization_id, id),
        ADD CONSTRAINT providers_one_credential_check
          CHECK (provider_gateway_id IS NULL OR (secret_blob IS NULL AND base_url IS NULL)),
        ADD CONSTRAINT providers_gateway_route_check
          CHECK (gateway_route IS NULL OR provider_gateway_id IS NOT NULL)`);
    await runner.query('CREATE INDEX providers_gateway_idx ON providers (provider_gateway_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE providers
        DROP CONSTRAINT providers_gateway_route_check,
        DROP CONSTRAINT providers_one_credential_check,
        DROP CONSTRAINT providers_gateway_fkey,
        DROP COLUMN gateway_route,
        DROP COLUMN provider_gateway_id`);
    await runner.query('DROP TABLE provider_gateways');
  }
}
