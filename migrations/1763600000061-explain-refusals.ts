import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Why a request was refused: the code and the message that the client got, the granular reason, and until when; null in
 * events of calls, and in earlier events. The index finds refused requests of an account by time: they are few.
 */
export class ExplainRefusals1763600000061 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN refusal jsonb');
    await runner.query(`
      CREATE INDEX usage_events_refused_idx ON usage_events (organization_id, created_at, id)
        WHERE starts_with(status, 'blocked_')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_events_refused_idx');
    await runner.query('ALTER TABLE usage_events DROP COLUMN refusal');
  }
}
