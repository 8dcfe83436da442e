import { Injectable } from '@nestjs/common';
import { BackgroundDataSource } from '../platform/database/pools.js';
import { eventBodyOf, eventIdOf, isoTime, outboxParts } from '../platform/outbox/outbox-statements.js';

/** Fewer in an hour are not reported. */
const LEAST = 20;
/** The multiple of the usual count from which it is reported. */
const FACTOR = 3;
/** Days whose same hour defines the usual count. */
const DAYS = 7;

/** What is counted: the rows of a table for which the condition holds. */
interface RisingCount {
  readonly type: 'sign_in.refusals_rising' | 'usage.unresolved_rising';
  readonly table: string;
  readonly condition: string;
}

/** An index of `created_at` holds the rows of each condition alone. */
const RISING_COUNTS: readonly RisingCount[] = [
  { type: 'sign_in.refusals_rising', table: 'auth_events', condition: `outcome <> 'ok'` },
  { type: 'usage.unresolved_rising', table: 'usage_events', condition: `cost_source = 'unresolved'` },
];

/**
 * Stores an event for each application whose count of this UTC hour is high, once for the hour. All times are those of
 * the database. Both ends of the hour are bounded, so that events with a time ahead wait for theirs.
 */
function statementOf({ type, table, condition }: RisingCount): string {
  const quoted = `'${type}'`;
  const id = eventIdOf({ type: quoted, account: 'organization_id', app: 'app_id', periodStart: 'hour' });
  const data = `json_build_object('account', organization_id, 'app', app_id, 'period_start', ${isoTime('hour')},
    'count', count, 'usual', round(usual, 2))`;
  const inHour = (start: string) =>
    `event.created_at >= ${start} AND event.created_at < ${start} + interval '1 hour' AND event.${condition}`;
  return `
  WITH present AS (SELECT date_trunc('hour', now(), 'UTC') AS hour),
  high AS (
    SELECT event.organization_id, event.app_id, present.hour, count(*) AS count
    FROM present JOIN ${table} event ON ${inHour('present.hour')}
    GROUP BY event.organization_id, event.app_id, present.hour HAVING count(*) >= ${LEAST}),
  past AS (
    SELECT event.organization_id, event.app_id, count(*)::numeric / ${DAYS} AS usual
    FROM present CROSS JOIN LATERAL (
      SELECT present.hour - days * interval '1 day' AS hour FROM generate_series(1, ${DAYS}) AS days) earlier
    JOIN ${table} event ON ${inHour('earlier.hour')}
    GROUP BY event.organization_id, event.app_id),
  rising AS (
    SELECT high.*, coalesce(past.usual, 0) AS usual
    FROM high LEFT JOIN past USING (organization_id, app_id)
    WHERE high.count >= ${FACTOR} * coalesce(past.usual, 0)),
  told AS (
    SELECT ${id} AS id, organization_id, ${quoted} AS type, app_id, 'app:' || app_id AS subject,
      ${eventBodyOf(quoted, 'now()', data)} AS body, now() AS at, 1 AS place
    FROM rising),
  ${outboxParts('told')}
  SELECT`;
}

const STATEMENTS = RISING_COUNTS.map(statementOf);

/** Reads auth_events and usage_events, of all accounts, each event in its own. */
@Injectable()
export class RisingCountsRepository {
  constructor(private readonly background: BackgroundDataSource) {}

  /** Stores the events of counts that are high now; those already stored stay unchanged. */
  async store(): Promise<void> {
    for (const statement of STATEMENTS) await this.background.query(statement);
  }
}
