import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which call an `Idempotency-Key` of a caller stands for, while its answer is kept. */
export class ClaimStreams1763600000120 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE stream_claims (
        key_mark text NOT NULL,
        request_mark text NOT NULL,
        claim_id uuid NOT NULL,
        instance_id text NOT NULL,
        stream text,
        expires_at timestamptz NOT NULL,
        CONSTRAINT stream_claims_pkey PRIMARY KEY (key_mark)
      )`);
    await runner.query('CREATE INDEX stream_claims_expires_at_idx ON stream_claims (expires_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE stream_claims');
  }
}
