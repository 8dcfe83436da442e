import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints of accounts that receive events, the events, and their deliveries. */
export class CreateWebhooks1763600000080 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE webhooks (
        id text,
        organization_id text NOT NULL CONSTRAINT webhooks_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        name text NOT NULL,
        url text NOT NULL,
        events text[],
        app_ids text[],
        enabled boolean NOT NULL,
        disabled_reason text CONSTRAINT webhooks_disabled_reason_check CHECK (disabled_reason IN ('gone')),
        secret_blob text NOT NULL,
        previous_secret_blob text,
        previous_until timestamptz,
        created_by text NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        leased_until timestamptz NOT NULL,
        CONSTRAINT webhooks_pkey PRIMARY KEY (id))`);
    await runner.query('CREATE INDEX webhooks_organization_idx ON webhooks (organization_id, created_at, id)');
    await runner.query(`
      CREATE TABLE webhook_events (
        id text,
        organization_id text NOT NULL
          CONSTRAINT webhook_events_organization_fkey REFERENCES organizations ON DELETE CASCADE,
        type text NOT NULL,
        subject text NOT NULL,
        body text NOT NULL,
        created_at timestamptz NOT NULL,
        CONSTRAINT webhook_events_pkey PRIMARY KEY (id))`);
    await runner.query('CREATE INDEX webhook_events_created_idx ON webhook_events (created_at)');
    await runner.query('CREATE INDEX webhook_events_organization_idx ON webhook_events (organization_id)');
    await runner.query(`
      CREATE TABLE webhook_deliveries (
        id bigint GENERATED ALWAYS AS IDENTITY,
        webhook_id text NOT NULL CONSTRAINT webhook_deliveries_webhook_fkey REFERENCES webhooks ON DELETE CASCADE,
        event_id text NOT NULL CONSTRAINT webhook_deliveries_event_fkey REFERENCES webhook_events ON DELETE CASCADE,
        status text NOT NULL CONSTRAINT webhook_deliveries_status_check
          CHECK (status IN ('pending', 'delivered', 'failed', 'disabled')),
        attempts integer NOT NULL,
        response_status integer,
        duration_ms integer,
        created_at timestamptz NOT NULL,
        next_attempt_at timestamptz,
        CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
        CONSTRAINT webhook_deliveries_event_key UNIQUE (event_id, webhook_id),
        CONSTRAINT webhook_deliveries_next_check CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL)))`);
    await runner.query('CREATE INDEX webhook_deliveries_webhook_idx ON webhook_deliveries (webhook_id, id)');
    await runner.query(`
      CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (webhook_id, next_attempt_at)
        WHERE status = 'pending'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_deliveries');
    await runner.query('DROP TABLE webhook_events');
    await runner.query('DROP TABLE webhooks');
  }
}
