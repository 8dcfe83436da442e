import type { MigrationInterface, QueryRunner } from 'typeorm';

const DAY = "(created_at AT TIME ZONE 'UTC')::date";

/** Class of a time: each ends a tenth above the one before it. */
const classOf = (column: string) => `ceil(ln(greatest(${column}, 1)::float8) / ln(1.1::float8))::integer`;

const CLASS = 'organization_id, day, app_id, provider_type, model, class';

const ofTime = (column: string, counts: string) => `
  SELECT organization_id, ${DAY} AS day, app_id, provider_type, model, ${classOf(column)} AS class, ${counts}
  FROM added WHERE status = 'ok' AND ${column} IS NOT NULL`;

const ADD_BOTH = `
  INSERT INTO usage_latencies AS known (${CLASS}, requests, durations)
  SELECT ${CLASS}, sum(requests), sum(durations) FROM (
    ${ofTime('latency_ms', '1 AS requests, 0 AS durations')} UNION ALL
    ${ofTime('duration_ms', '0 AS requests, 1 AS durations')}) of_both
  GROUP BY ${CLASS}
  ORDER BY organization_id COLLATE "C", day, app_id COLLATE "C", provider_type COLLATE "C", model COLLATE "C", class
  ON CONFLICT (${CLASS}) DO UPDATE
    SET requests = known.requests + excluded.requests, durations = known.durations + excluded.durations`;

const ADD_LATENCIES = `
  INSERT INTO usage_latencies AS known (${CLASS}, requests)
  SELECT organization_id, ${DAY} AS day, app_id, provider_type, model, ${classOf('latency_ms')} AS class, count(*)
  FROM added WHERE status = 'ok' AND latency_ms IS NOT NULL GROUP BY ${CLASS}
  ORDER BY organization_id COLLATE "C", day, app_id COLLATE "C", provider_type COLLATE "C", model COLLATE "C", class
  ON CONFLICT (${CLASS}) DO UPDATE SET requests = known.requests + excluded.requests`;

/** The statement of the trigger that fills `usage_latencies`, up to its end. */
const STATEMENT = /INSERT INTO usage_latencies [^;]*;/;

/**
 * The time until the last byte of a response, in addition to that until the first. Both are counted in the rows of one
 * table, so that one statement of the trigger updates both; the previous version counts no durations.
 */
export class RecordDurations1763600000085 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE usage_events ADD COLUMN duration_ms integer');
    await runner.query('ALTER TABLE usage_latencies ADD COLUMN durations bigint NOT NULL DEFAULT 0');
    await replaceInTrigger(runner, ADD_BOTH);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceInTrigger(runner, ADD_LATENCIES);
    await runner.query('ALTER TABLE usage_latencies DROP COLUMN durations');
    await runner.query('ALTER TABLE usage_events DROP COLUMN duration_ms');
  }
}

async function replaceInTrigger(runner: QueryRunner, statement: string): Promise<void> {
  const [row]: { definition: string }[] = await runner.query(
    "SELECT pg_get_functiondef('sum_account_on_insert'::regproc) AS definition",
  );
  const definition = row?.definition ?? '';
  if (!STATEMENT.test(definition)) throw new Error('sum_account_on_insert does not fill usage_latencies');
  await runner.query(definition.replace(STATEMENT, () => `${statement};`));
}
