import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Usage events: one per request, written once (`event_id`), money in nano-dollars. No foreign keys: usage outlives the
 * application, provider and key it names.
 */
export class CreateUsageEvents1763600000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_events (
        id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT usage_events_pkey PRIMARY KEY,
        event_id text NOT NULL CONSTRAINT usage_events_event_id_key UNIQUE,
        organization_id text NOT NULL,
        app_id text NOT NULL,
        user_id text,
        api_key_id text,
        provider_type text NOT NULL,
        provider_id text,
        provider_slug text,
        provider_gateway_id text,
        provider_gateway_type text,
        credential_source text,
        model_author text,
        served_provider text,
        served_model text,
        model text NOT NULL,
        route text NOT NULL,
        endpoint_slug text,
        requests integer NOT NULL DEFAULT 1,
        input_tokens bigint NOT NULL DEFAULT 0,
        cached_input_tokens bigint NOT NULL DEFAULT 0,
        cache_write_tokens bigint NOT NULL DEFAULT 0,
        output_tokens bigint NOT NULL DEFAULT 0,
        reasoning_tokens bigint NOT NULL DEFAULT 0,
        audio_input_tokens bigint NOT NULL DEFAULT 0,
        audio_output_tokens bigint NOT NULL DEFAULT 0,
        audio_milliseconds bigint NOT NULL DEFAULT 0,
        cost_nano_usd bigint NOT NULL DEFAULT 0,
        reported_cost_nano_usd bigint,
        cost_source text CONSTRAINT usage_events_cost_source_check CHECK (cost_source IN ('computed', 'reported', 'unresolved')),
        app_version text,
        auth_method text,
        status text NOT NULL,
        client_aborted boolean NOT NULL DEFAULT false,
        latency_ms integer,
        attempts json,
        response_id text,
        created_at timestamptz NOT NULL
      )`);
    await runner.query('CREATE INDEX usage_events_app_idx ON usage_events (organization_id, app_id, id DESC)');
    await runner.query('CREATE INDEX usage_events_app_month_idx ON usage_events (organization_id, app_id, created_at)');
    await runner.query(
      'CREATE INDEX usage_events_response_idx ON usage_events (app_id, response_id) WHERE response_id IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE usage_events');
  }
}
