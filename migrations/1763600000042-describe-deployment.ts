import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What owners see of a deployment: the version and clock of each instance, and the last nightly job. */
export class DescribeDeployment1763600000042 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE gateway_instances
        ADD COLUMN version text NOT NULL DEFAULT '',
        ADD COLUMN clock_ahead_ms bigint NOT NULL DEFAULT 0`);
    await runner.query(`
      CREATE TABLE maintenance_runs (
        singleton boolean CONSTRAINT maintenance_runs_pkey PRIMARY KEY DEFAULT true
          CONSTRAINT maintenance_runs_singleton_check CHECK (singleton),
        started_at timestamptz NOT NULL,
        ended_at timestamptz NOT NULL,
        outcome text NOT NULL
          CONSTRAINT maintenance_runs_outcome_check CHECK (outcome IN ('done', 'failed', 'stopped')))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE maintenance_runs');
    await runner.query('ALTER TABLE gateway_instances DROP COLUMN version, DROP COLUMN clock_ahead_ms');
  }
}
