import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `limit_unsent`: requests that were counted against a daily limit and never sent to a provider, so that they have no
 * event: their client left first, or no connection was free. The empty user stands for the application itself. Counters
 * are compared with events and these.
 */
export class NoteUnsentRequests1763600000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE limit_unsent (
        app_id text NOT NULL,
        user_id text NOT NULL,
        day date NOT NULL,
        requests bigint NOT NULL,
        CONSTRAINT limit_unsent_pkey PRIMARY KEY (app_id, user_id, day))`);
    await runner.query('CREATE INDEX limit_unsent_day_idx ON limit_unsent (day)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE limit_unsent');
  }
}
