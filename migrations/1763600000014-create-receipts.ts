import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Results of creations with an idempotency key, so that a retry gets the first response. */
export class CreateReceipts1763600000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE creation_receipts (
        id text CONSTRAINT creation_receipts_pkey PRIMARY KEY,
        organization_id text NOT NULL
          CONSTRAINT creation_receipts_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        identity_id text NOT NULL,
        credential_id text NOT NULL,
        kind text NOT NULL CONSTRAINT creation_receipts_kind_check
          CHECK (kind IN ('app', 'app_key', 'provider', 'provider_gateway')),
        proof_hash text NOT NULL,
        request_hash text NOT NULL,
        app_id text,
        key_id text,
        provider_id text,
        provider_gateway_id text,
        answer text,
        sealed_answer text,
        sealed_until timestamptz,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX creation_receipts_expires_idx ON creation_receipts (expires_at)');
    await runner.query(
      'CREATE INDEX creation_receipts_sealed_idx ON creation_receipts (sealed_until) WHERE sealed_answer IS NOT NULL',
    );
    await runner.query('CREATE INDEX creation_receipts_organization_idx ON creation_receipts (organization_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE creation_receipts');
  }
}
