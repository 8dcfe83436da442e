import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Results of the latest calls to each provider, and whether it is failing; indexes to count refused sign-ins and
 * unresolved costs by hour.
 */
export class WatchProviders1763600000084 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE provider_health (
        provider_id text CONSTRAINT provider_health_provider_fkey REFERENCES providers ON DELETE CASCADE,
        failing_reason text CONSTRAINT provider_health_reason_check CHECK (failing_reason IN ('key_refused', 'errors')),
        failing_since timestamptz,
        good_in_a_row integer NOT NULL,
        slots jsonb NOT NULL,
        CONSTRAINT provider_health_pkey PRIMARY KEY (provider_id),
        CONSTRAINT provider_health_failing_check CHECK ((failing_reason IS NULL) = (failing_since IS NULL)))`);
    await runner.query(`
      CREATE INDEX auth_events_refused_idx ON auth_events (created_at) INCLUDE (organization_id, app_id)
        WHERE outcome <> 'ok'`);
    await runner.query(`
      CREATE INDEX usage_events_unresolved_idx ON usage_events (created_at) INCLUDE (organization_id, app_id)
        WHERE cost_source = 'unresolved'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_events_unresolved_idx');
    await runner.query('DROP INDEX auth_events_refused_idx');
    await runner.query('DROP TABLE provider_health');
  }
}
