import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Provider instances: a type, a slug, a sealed key and optionally a custom origin and prices. */
export class CreateProviders1763600000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE providers (
        id text CONSTRAINT providers_pkey PRIMARY KEY,
        organization_id text NOT NULL CONSTRAINT providers_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        type text NOT NULL,
        slug text NOT NULL,
        name text NOT NULL,
        secret_blob text,
        secret_hint text,
        base_url text,
        pricing json,
        revision integer NOT NULL,
        status text NOT NULL CONSTRAINT providers_status_check CHECK (status IN ('active', 'disabled')),
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        CONSTRAINT providers_slug_key UNIQUE (organization_id, slug)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE providers');
  }
}
