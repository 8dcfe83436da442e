import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What each user of an application used in each UTC month, kept in step with `usage_events` by the statement that
 * stores them. Shows who was ever seen, even if no user is stored, without reading millions of events. No foreign keys:
 * usage outlives its application. Sums are numeric, because sums of absurd counts exceed a bigint and would block later
 * events; rows are rewritten often and have room for it. With an index of the few failed events.
 */
export class CreateUsageUserMonths1763600000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_user_months (
        organization_id text NOT NULL,
        app_id text NOT NULL,
        user_id text NOT NULL,
        month date NOT NULL,
        requests bigint NOT NULL,
        input_tokens numeric NOT NULL,
        cached_input_tokens numeric NOT NULL,
        cache_write_tokens numeric NOT NULL,
        output_tokens numeric NOT NULL,
        cost_nano_usd numeric NOT NULL,
        errors bigint NOT NULL,
        blocked bigint NOT NULL,
        first_at timestamptz NOT NULL,
        last_at timestamptz NOT NULL,
        latest_day date NOT NULL,
        latest_day_requests bigint NOT NULL,
        CONSTRAINT usage_user_months_pkey PRIMARY KEY (app_id, user_id, month)
      ) WITH (fillfactor = 70)`);
    await runner.query(`
      INSERT INTO usage_user_months
      SELECT organization_id, app_id, user_id, (date_trunc('month', created_at AT TIME ZONE 'UTC'))::date,
        sum(requests), sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens),
        sum(cost_nano_usd),
        coalesce(sum(requests) FILTER (WHERE status = 'provider_error'), 0),
        coalesce(sum(requests) FILTER (WHERE starts_with(status, 'blocked_')), 0),
        min(created_at), max(created_at), max((created_at AT TIME ZONE 'UTC')::date), 0
      FROM usage_events WHERE user_id IS NOT NULL GROUP BY 1, 2, 3, 4`);
    await runner.query(`
      UPDATE usage_user_months month SET latest_day_requests = (
        SELECT coalesce(sum(event.requests), 0) FROM usage_events event
        WHERE event.organization_id = month.organization_id AND event.app_id = month.app_id
          AND event.user_id = month.user_id AND (event.created_at AT TIME ZONE 'UTC')::date = month.latest_day
          AND NOT starts_with(event.status, 'blocked_'))`);
    await runner.query(
      "CREATE INDEX usage_events_failure_idx ON usage_events (organization_id, app_id, created_at) WHERE status <> 'ok'",
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_events_failure_idx');
    await runner.query('DROP TABLE usage_user_months');
  }
}
