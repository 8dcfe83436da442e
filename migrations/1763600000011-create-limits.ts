import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The state that instances share, and what applications and users have spent.
 *
 * `gateway_instances`: processes that serve from this database; `seen_at` is renewed while they live, `limit_epoch` is
 * the epoch their counts of requests belong to, 0 for none. `limit_epoch`: where requests are counted now; until it is
 * opened, instances collect in `limit_counts` what they counted in the current windows. Minutes that began before
 * `minutes_unknown_at` are incomplete, because an instance that counted in them is gone.
 *
 * `budget_months`: what counts against budgets, for every application and user, whether a budget is set or not; the
 * empty user stands for the application itself. `granted_nano_usd` is what instances may still admit calls with, or
 * have admitted and not recorded yet: the sum of its `budget_grants`.
 *
 * `usage_events.charged_nano_usd`: what an event counts against budgets, if that is not its cost.
 */
export class CreateLimits1763600000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE gateway_instances (
        id text CONSTRAINT gateway_instances_pkey PRIMARY KEY,
        started_at timestamptz NOT NULL DEFAULT now(),
        seen_at timestamptz NOT NULL DEFAULT now(),
        host text NOT NULL,
        pid integer NOT NULL,
        process_started text NOT NULL,
        uses_redis boolean NOT NULL,
        redis_answers boolean NOT NULL DEFAULT false,
        limit_epoch bigint NOT NULL DEFAULT 0)`);
    await runner.query(`
      CREATE TABLE limit_epoch (
        only_row boolean CONSTRAINT limit_epoch_pkey PRIMARY KEY DEFAULT true
          CONSTRAINT limit_epoch_only_row_check CHECK (only_row),
        deployment text NOT NULL DEFAULT gen_random_uuid()::text,
        epoch bigint NOT NULL DEFAULT 1,
        counted_in text NOT NULL DEFAULT 'redis'
          CONSTRAINT limit_epoch_counted_in_check CHECK (counted_in IN ('redis', 'instances')),
        reason text NOT NULL DEFAULT 'begun',
        opened_at timestamptz DEFAULT now(),
        members text[] NOT NULL DEFAULT '{}',
        minutes_unknown_at timestamptz)`);
    await runner.query('INSERT INTO limit_epoch DEFAULT VALUES');
    await runner.query(`
      CREATE TABLE limit_counts (
        app_id text NOT NULL,
        user_id text NOT NULL,
        window_ms integer NOT NULL,
        window_start_ms bigint NOT NULL,
        requests bigint NOT NULL,
        agreed_epoch bigint NOT NULL DEFAULT 0,
        CONSTRAINT limit_counts_pkey PRIMARY KEY (app_id, user_id, window_ms, window_start_ms))`);
    await runner.query('CREATE INDEX limit_counts_window_idx ON limit_counts (window_ms, window_start_ms)');
    await runner.query(`
      CREATE TABLE budget_months (
        app_id text NOT NULL,
        user_id text NOT NULL,
        month date NOT NULL,
        organization_id text NOT NULL,
        spent_nano_usd bigint NOT NULL DEFAULT 0,
        granted_nano_usd bigint NOT NULL DEFAULT 0
          CONSTRAINT budget_months_granted_check CHECK (granted_nano_usd >= 0),
        CONSTRAINT budget_months_pkey PRIMARY KEY (app_id, user_id, month))`);
    await runner.query('CREATE INDEX budget_months_month_idx ON budget_months (month)');
    await runner.query(`
      CREATE TABLE budget_grants (
        app_id text NOT NULL,
        user_id text NOT NULL,
        month date NOT NULL,
        instance_id text NOT NULL,
        granted_nano_usd bigint NOT NULL
          CONSTRAINT budget_grants_granted_check CHECK (granted_nano_usd >= 0),
        CONSTRAINT budget_grants_pkey PRIMARY KEY (app_id, user_id, month, instance_id))`);
    await runner.query('CREATE INDEX budget_grants_instance_idx ON budget_grants (instance_id)');
    await runner.query('ALTER TABLE usage_events ADD COLUMN charged_nano_usd bigint');
    await this.countWhatWasSpent(runner);
  }

  /** Budgets also apply to the current month; of earlier ones, what their events still show. */
  private async countWhatWasSpent(runner: QueryRunner): Promise<void> {
    const month = "date_trunc('month', now() AT TIME ZONE 'UTC' - interval '3 months')::date";
    await runner.query(`
      INSERT INTO budget_months (app_id, user_id, month, organization_id, spent_nano_usd)
      SELECT app_id, user_id, month, organization_id, cost_nano_usd FROM usage_user_months
      WHERE month >= ${month} AND cost_nano_usd > 0`);
    await runner.query(`
      INSERT INTO budget_months (app_id, user_id, month, organization_id, spent_nano_usd)
      SELECT app_id, '', date_trunc('month', day::timestamp)::date, min(organization_id), sum(cost_nano_usd)
      FROM usage_days WHERE day >= ${month}
      GROUP BY app_id, date_trunc('month', day::timestamp)::date HAVING sum(cost_nano_usd) > 0`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events DROP COLUMN charged_nano_usd');
    for (const table of ['budget_grants', 'budget_months', 'limit_counts', 'limit_epoch', 'gateway_instances']) {
      await runner.query(`DROP TABLE ${table}`);
    }
  }
}
