import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Authentication events: one per attempt to register a device or to exchange a token, kept for 90 days. */
export class CreateAuthEvents1763600000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE auth_events (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT auth_events_pkey PRIMARY KEY,
        event_id uuid NOT NULL CONSTRAINT auth_events_event_id_key UNIQUE,
        organization_id text NOT NULL,
        app_id text NOT NULL CONSTRAINT auth_events_app_fkey REFERENCES apps ON DELETE CASCADE,
        user_id text,
        event text NOT NULL CONSTRAINT auth_events_event_check CHECK (event IN ('register', 'token_exchange')),
        auth_method text CONSTRAINT auth_events_auth_method_check CHECK (auth_method IN ('attest', 'api_key')),
        outcome text NOT NULL,
        reason text,
        app_version text,
        latency_ms integer,
        claim_delay_ms bigint,
        created_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX auth_events_event_idx ON auth_events (app_id, event, id DESC)');
    await runner.query('CREATE INDEX auth_events_outcome_idx ON auth_events (app_id, event, outcome, id DESC)');
    await runner.query(
      'CREATE INDEX auth_events_user_idx ON auth_events (app_id, user_id, id DESC) WHERE user_id IS NOT NULL',
    );
    await runner.query(
      'CREATE INDEX auth_events_day_idx ON auth_events (app_id, created_at) INCLUDE (event, outcome, reason)',
    );
    await runner.query(
      'CREATE INDEX auth_events_claim_delay_idx ON auth_events (app_id, created_at) INCLUDE (claim_delay_ms) WHERE claim_delay_ms IS NOT NULL',
    );
    await runner.query('CREATE INDEX auth_events_time_idx ON auth_events (created_at)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE auth_events');
  }
}
