import type { DataSource } from 'typeorm';
import { LEASE_MS } from '../../platform/instances/instances.repository.js';
import type { ScopeRequests } from './counter-ledger.rules.js';
import type { WrittenEvent } from './written-events.js';

/** An application with request limits per day. */
export interface DayLimitedApp {
  readonly organizationId: string;
  readonly id: string;
  readonly isLimited: boolean;
  readonly areUsersLimited: boolean;
  /** Last configuration change, milliseconds since the Unix epoch; null without a change. */
  readonly changedAtMs: number | null;
}

/** An instance that is registered and had a heartbeat within a day. */
export interface KnownInstance {
  readonly id: string;
  readonly lives: boolean;
  /** Requests without a stored event, as last published; null when never published. */
  readonly openCalls: number | null;
}

/** Maximum delay between the time of an event and the counting of its request. */
const LONGEST_ADMISSION = "interval '5 seconds'";
/** Maximum delay between the end of a request and the storing of its event, while Postgres is available. */
const LONGEST_STORING = "interval '5 seconds'";

const isLimited = (scope: string) => `config #>> '{limits,${scope},requests,per_day}' IS NOT NULL`;

const LIST_APPS = `
  SELECT organization_id AS "organizationId", id,
    ${isLimited('per_app')} AS "isLimited", ${isLimited('per_user')} AS "areUsersLimited",
    CASE WHEN updated_at > created_at THEN (extract(epoch FROM updated_at) * 1000)::float8 END AS "changedAtMs"
  FROM apps
  WHERE ${isLimited('per_app')} OR ${isLimited('per_user')}
  ORDER BY organization_id COLLATE "C", id COLLATE "C"`;

const LIST_INSTANCES = `
  SELECT id, seen_at > clock_timestamp() - $1 * interval '1 millisecond' AS lives, open_calls::float8 AS "openCalls"
  FROM gateway_instances WHERE seen_at > clock_timestamp() - interval '1 day'`;

const at = (parameter: string) => `timestamptz 'epoch' + ${parameter}::float8 * interval '1 millisecond'`;

/** Requests of one application by user; the empty user is the whole application. One statement, so one snapshot. */
const SUM_DAY = `
  WITH moment AS (SELECT ${at('$3')} AS day, ${at('$4')} AS changed, ${at('$5')} AS opened),
  event AS (
    SELECT user_id, requests, created_at, created_at >= day AS is_today,
      created_at >= coalesce(changed, day) AS is_since_change,
      (created_at < changed AND (latency_ms IS NULL OR ended > changed - ${LONGEST_STORING}))
        OR (created_at < opened AND (latency_ms IS NULL OR ended > opened - ${LONGEST_STORING})) AS is_unheard
    FROM moment CROSS JOIN LATERAL (
      SELECT one.*, one.created_at + one.latency_ms * interval '1 millisecond' AS ended FROM usage_events one
      WHERE one.organization_id = $1 AND one.app_id = $2 AND NOT starts_with(one.status, 'blocked_')
        AND one.created_at >= moment.day - ${LONGEST_ADMISSION} AND one.created_at < moment.day + interval '1 day') stored),
  written AS (
    SELECT user_id FROM json_to_recordset($6::json) AS line(event_id text, user_id text, created_at_ms bigint)
    WHERE NOT EXISTS (
      SELECT FROM usage_events stored
      WHERE stored.event_id = line.event_id AND stored.created_at = ${at('line.created_at_ms')})),
  known AS (
    SELECT scope.user_id,
      sum(requests) FILTER (WHERE is_today) AS recorded,
      sum(requests) FILTER (WHERE is_today AND is_since_change) AS since_change,
      sum(requests) FILTER (WHERE is_today AND is_unheard) AS unheard,
      sum(requests) FILTER (WHERE NOT is_today) AS from_before,
      0 AS open, 0 AS unsent, NULL::bigint AS kept
    FROM event CROSS JOIN LATERAL (VALUES (''), (user_id)) AS scope(user_id)
    WHERE scope.user_id IS NOT NULL GROUP BY scope.user_id
    UNION ALL
    SELECT scope.user_id, 0, 0, 0, 0, count(*), 0, NULL
    FROM written CROSS JOIN LATERAL (VALUES (''), (user_id)) AS scope(user_id)
    WHERE scope.user_id IS NOT NULL GROUP BY scope.user_id
    UNION ALL
    SELECT user_id, 0, 0, 0, 0, 0, requests, NULL FROM limit_unsent
    WHERE app_id = $2 AND day = (to_timestamp($3::float8 / 1000) AT TIME ZONE 'UTC')::date
    UNION ALL
    SELECT user_id, 0, 0, 0, 0, 0, 0, requests FROM limit_counts
    WHERE app_id = $2 AND window_ms = 86400000 AND window_start_ms = $3::bigint)
  SELECT user_id AS "userId", coalesce(sum(recorded), 0)::float8 AS recorded,
    coalesce(sum(since_change), 0)::float8 AS "sinceChange", coalesce(sum(unheard), 0)::float8 AS unheard,
    coalesce(sum(from_before), 0)::float8 AS "fromBefore", sum(open)::float8 AS open, sum(unsent)::float8 AS unsent,
    sum(kept)::float8 AS kept
  FROM known GROUP BY user_id ORDER BY user_id COLLATE "C"`;

interface ScopeRow extends Omit<ScopeRequests, 'kept'> {
  readonly kept: number | null;
}

/** The day to check. */
export interface CountedDay {
  readonly dayStartMs: number;
  /** When the current epoch was opened, milliseconds since the Unix epoch. */
  readonly openedAtMs: number;
}

/** Reads the data that request counters are compared with. */
export class CounterLedgerRepository {
  constructor(private readonly dataSource: DataSource) {}

  listApps(): Promise<DayLimitedApp[]> {
    return this.dataSource.query(LIST_APPS);
  }

  listInstances(): Promise<KnownInstance[]> {
    return this.dataSource.query(LIST_INSTANCES, [LEASE_MS]);
  }

  /**
   * The requests of a UTC day of an application and of each of its users.
   *
   * @param written events from journals; those already stored are ignored.
   */
  async sumDay(
    { organizationId, id, changedAtMs }: DayLimitedApp,
    { dayStartMs, openedAtMs }: CountedDay,
    written: readonly WrittenEvent[],
  ): Promise<ScopeRequests[]> {
    const lines = JSON.stringify(written.filter((event) => event.app_id === id));
    const changed = changedAtMs !== null && changedAtMs >= dayStartMs ? changedAtMs : null;
    const rows = await this.dataSource.query<ScopeRow[]>(SUM_DAY, [
      ...[organizationId, id, dayStartMs, changed, openedAtMs, lines],
    ]);
    return rows.map((row) => ({ ...row, kept: row.kept ?? undefined }));
  }
}
