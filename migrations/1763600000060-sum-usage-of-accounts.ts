import type { MigrationInterface, QueryRunner } from 'typeorm';

const SUMMED = [
  'requests',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'cost_nano_usd',
  'estimated_nano_usd',
];

const MEASURES = [...SUMMED, 'errors', 'blocked'];

const DAY = "(created_at AT TIME ZONE 'UTC')::date";

/** A latency class ends a tenth above the one before it: the middle of one is within 5 % of each of its latencies. */
const LATENCY_CLASS = 'ceil(ln(greatest(latency_ms, 1)::float8) / ln(1.1::float8))::integer';

const KEY = 'organization_id, day, app_id, api_key_id';

/** Events of application keys as rows of the sums; removed ones have the opposite sign. */
function ofKeys(relation: string, sign: '' | '-' = ''): string {
  const measures = SUMMED.filter((name) => name !== 'estimated_nano_usd').map((name) => `${sign}${name} AS ${name}`);
  return `
    SELECT organization_id, ${DAY} AS day, app_id, api_key_id, ${measures.join(', ')},
      ${sign}greatest(coalesce(charged_nano_usd, cost_nano_usd) - cost_nano_usd, 0) AS estimated_nano_usd,
      CASE status WHEN 'provider_error' THEN ${sign}requests ELSE 0 END AS errors,
      CASE WHEN starts_with(status, 'blocked_') THEN ${sign}requests ELSE 0 END AS blocked
    FROM ${relation} WHERE api_key_id IS NOT NULL`;
}

/** Adds rows of `ofKeys`, in a fixed order, so that concurrent statements do not deadlock. */
const addKeys = (rows: string) => `
  INSERT INTO usage_key_days AS known (${KEY}, ${MEASURES.join(', ')})
  SELECT ${KEY}, ${MEASURES.map((name) => `sum(${name})`).join(', ')} FROM (${rows}) delta GROUP BY ${KEY}
  HAVING ${MEASURES.map((name) => `sum(${name}) <> 0`).join(' OR ')}
  ORDER BY organization_id COLLATE "C", day, app_id COLLATE "C", api_key_id COLLATE "C"
  ON CONFLICT (${KEY}) DO UPDATE SET ${MEASURES.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ')}`;

const CLASS = 'organization_id, day, app_id, provider_type, model, class';

const addLatencies = (relation: string) => `
  INSERT INTO usage_latencies AS known (${CLASS}, requests)
  SELECT organization_id, ${DAY} AS day, app_id, provider_type, model, ${LATENCY_CLASS} AS class, count(*)
  FROM ${relation} WHERE status = 'ok' AND latency_ms IS NOT NULL GROUP BY ${CLASS}
  ORDER BY organization_id COLLATE "C", day, app_id COLLATE "C", provider_type COLLATE "C", model COLLATE "C", class
  ON CONFLICT (${CLASS}) DO UPDATE SET requests = known.requests + excluded.requests`;

/**
 * What reports on a whole account read besides the daily sums: usage by application key, latencies, and the events of a
 * period by the account index.
 *
 * Triggers of `usage_events` keep both tables, so that the previous version and repricing keep them too. They take
 * their locks last, after the statement has locked the other sums. No trigger follows deleted events: the nightly job
 * deletes the rows of their days.
 */
export class SumUsageOfAccounts1763600000060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE usage_key_days (
        organization_id text NOT NULL,
        day date NOT NULL,
        app_id text NOT NULL,
        api_key_id text NOT NULL,
        ${MEASURES.map((name) => `${name} numeric NOT NULL`).join(', ')},
        CONSTRAINT usage_key_days_pkey PRIMARY KEY (${KEY})
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX usage_key_days_day_idx ON usage_key_days (day)');
    await runner.query(`
      CREATE TABLE usage_latencies (
        organization_id text NOT NULL,
        day date NOT NULL,
        app_id text NOT NULL,
        provider_type text NOT NULL,
        model text NOT NULL,
        class integer NOT NULL,
        requests bigint NOT NULL,
        CONSTRAINT usage_latencies_pkey PRIMARY KEY (${CLASS})
      ) WITH (fillfactor = 70)`);
    await runner.query('CREATE INDEX usage_latencies_day_idx ON usage_latencies (day)');
    // Without the lock, events stored between the sums and the triggers would be missing.
    await runner.query('LOCK TABLE usage_events IN SHARE ROW EXCLUSIVE MODE');
    await runner.query(addKeys(ofKeys('usage_events')));
    await runner.query(addLatencies('usage_events'));
    await createTrigger(runner, 'insert', 'NEW TABLE AS added', [addKeys(ofKeys('added')), addLatencies('added')]);
    await createTrigger(runner, 'update', 'OLD TABLE AS before NEW TABLE AS added', [
      addKeys(`${ofKeys('added')} UNION ALL ${ofKeys('before', '-')}`),
    ]);
    await runner.query('CREATE INDEX usage_events_account_idx ON usage_events (organization_id, created_at, id)');
    await runner.query('ANALYZE usage_key_days, usage_latencies');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX usage_events_account_idx');
    for (const change of ['insert', 'update']) {
      await runner.query(`DROP TRIGGER sum_account_on_${change} ON usage_events`);
      await runner.query(`DROP FUNCTION sum_account_on_${change}`);
    }
    await runner.query('DROP TABLE usage_latencies');
    await runner.query('DROP TABLE usage_key_days');
  }
}

async function createTrigger(
  runner: QueryRunner,
  change: string,
  referencing: string,
  actions: readonly string[],
): Promise<void> {
  await runner.query(`
    CREATE FUNCTION sum_account_on_${change}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${actions.map((action) => `${action};`).join('\n')}
      RETURN NULL;
    END $$`);
  await runner.query(`
    CREATE TRIGGER sum_account_on_${change} AFTER ${change.toUpperCase()} ON usage_events
    REFERENCING ${referencing} FOR EACH STATEMENT EXECUTE FUNCTION sum_account_on_${change}()`);
}
