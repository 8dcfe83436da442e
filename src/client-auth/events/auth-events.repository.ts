import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import { startOfDay } from '../../platform/database/utc-sql.js';
import {
  type AdmittedAttemptsRow,
  AUTH_EVENT_KINDS,
  type AuthEventDayRow,
  type AuthEventFilter,
  type AuthEventRow,
  type ClaimDelayRow,
  type ProofCountRow,
  SUCCESS,
  WOULD_REJECT,
} from './auth-event.js';

const COLUMNS = {
  event_id: 'uuid',
  organization_id: 'text',
  app_id: 'text',
  user_id: 'text',
  event: 'text',
  auth_method: 'text',
  outcome: 'text',
  reason: 'text',
  app_version: 'text',
  latency_ms: 'integer',
  claim_delay_ms: 'bigint',
  proof: 'text',
  facts: 'jsonb',
  created_at: 'timestamptz',
} as const;

const NAMES = Object.keys(COLUMNS);

/**
 * A duplicate changes nothing; an event of a deleted application is left out. The application rows stay locked until
 * the statement ends, so that a concurrent deletion cannot fail the whole batch.
 */
const INSERT_EVENTS = `
  INSERT INTO auth_events (${NAMES.join(', ')})
  SELECT ${NAMES.map((name) => `event.${name}`).join(', ')}
  FROM ROWS FROM (json_to_recordset($1::json) AS (${Object.entries(COLUMNS).map((column) => column.join(' '))}))
    WITH ORDINALITY AS event
  JOIN apps app ON app.id = event.app_id AND app.organization_id = event.organization_id
  ORDER BY event.ordinality
  FOR KEY SHARE OF app
  ON CONFLICT (event_id) DO NOTHING`;

/** One index scan per kind of event, so that the cost of a page does not depend on the frequency of the events. */
function listingOf(ofKind: string, order: string): string {
  return `
  SELECT event.* FROM unnest($3::text[]) AS kind(name)
  CROSS JOIN LATERAL (
    SELECT one.* FROM auth_events one
    WHERE one.organization_id = $1 AND one.app_id = $2 AND ${ofKind}
      AND ($4::text IS NULL OR one.outcome = $4) AND ($5::text IS NULL OR one.user_id = $5)
      AND ($6::bigint IS NULL OR one.id < $6)
    ORDER BY ${order} LIMIT $7) event
  ORDER BY event.id DESC LIMIT $7`;
}

const LIST_FILTERED = listingOf('one.event = kind.name', 'one.id DESC');

/** The order includes the single kind; otherwise Postgres walks the primary key for a kind that never occurred. */
const LIST_ALL = listingOf('one.event BETWEEN kind.name AND kind.name', 'one.event, one.id DESC');

/** Day by day, which avoids a date conversion per event and a sort. */
const COUNT_BY_DAY = `
  SELECT to_char(day.at, 'YYYY-MM-DD') AS date, counted.event, counted.outcome, counted.reason, counted.count
  FROM apps app
  CROSS JOIN generate_series($3::date::timestamp, $4::date::timestamp, interval '1 day') AS day(at)
  CROSS JOIN LATERAL (
    SELECT event.event, event.outcome, event.reason, count(*) AS count FROM auth_events event
    WHERE event.app_id = app.id AND event.created_at >= day.at AT TIME ZONE 'UTC'
      AND event.created_at < (day.at + interval '1 day') AT TIME ZONE 'UTC'
    GROUP BY event.event, event.outcome, event.reason) counted
  WHERE app.organization_id = $1 AND app.id = $2
  ORDER BY 1, counted.event COLLATE "C", counted.outcome COLLATE "C", counted.reason COLLATE "C" NULLS FIRST`;

const CLAIM_DELAY = `
  SELECT count(*) AS count, round(avg(event.claim_delay_ms)) AS avg_ms,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY event.claim_delay_ms) AS p50_ms,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY event.claim_delay_ms) AS p95_ms
  FROM apps app JOIN auth_events event ON event.app_id = app.id
  WHERE app.organization_id = $1 AND app.id = $2 AND event.claim_delay_ms IS NOT NULL
    AND event.created_at >= ${startOfDay(3)}
    AND event.created_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'`;

const IN_DAYS = `app.organization_id = $1 AND app.id = $2 AND event.created_at >= ${startOfDay(3)}
    AND event.created_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'`;

/** What an attempt is judged by. */
const RESULT = ['auth_method', 'proof', 'outcome', 'reason', 'app_version', 'facts'];
const MARK = (table: string) => `md5(ROW(${RESULT.map((name) => `${table}.${name}`).join(', ')})::text)`;
const OF_DEVICE = `event.outcome IN ('${SUCCESS}', '${WOULD_REJECT}') AND event.auth_method <> 'api_key'`;

const ADMITTED = `
  SELECT counted.*, ${MARK('counted')} AS mark FROM (
    SELECT to_char(event.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
      ${RESULT.map((name) => `event.${name}`).join(', ')}, count(*) AS count
    FROM apps app JOIN auth_events event ON event.app_id = app.id
    WHERE ${IN_DAYS} AND ${OF_DEVICE}
    GROUP BY 1, ${RESULT.map((name) => `event.${name}`).join(', ')}) counted`;

const COUNT_USERS = `
  SELECT count(DISTINCT event.user_id) AS count
  FROM apps app JOIN auth_events event ON event.app_id = app.id
  WHERE ${IN_DAYS} AND ${OF_DEVICE} AND ${MARK('event')} = ANY($5::text[])`;

const COUNT_BY_PROOF = `
  SELECT event.proof, event.event,
    count(*) FILTER (WHERE event.outcome = '${SUCCESS}') AS ok,
    count(*) FILTER (WHERE event.outcome = '${WOULD_REJECT}') AS would_reject,
    count(*) FILTER (WHERE event.outcome NOT IN ('${SUCCESS}', '${WOULD_REJECT}')) AS refused
  FROM apps app JOIN auth_events event ON event.app_id = app.id
  WHERE ${IN_DAYS} AND event.proof IS NOT NULL
  GROUP BY 1, 2 ORDER BY 1, 2`;

/** All SQL on the table `auth_events`. */
@Injectable()
export class AuthEventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param events a JSON array as text. */
  async insert(events: string): Promise<void> {
    await this.dataSource.query(INSERT_EVENTS, [events]);
  }

  /** Newest first; at most `limit` of them. */
  list(app: AppRef, { limit, outcome, event, user, beforeId }: AuthEventFilter): Promise<AuthEventRow[]> {
    const kinds = event === undefined ? AUTH_EVENT_KINDS : [event];
    const isFiltered = outcome !== undefined || user !== undefined;
    return this.dataSource.query(isFiltered ? LIST_FILTERED : LIST_ALL, [
      app.organizationId,
      app.id,
      kinds,
      outcome ?? null,
      user ?? null,
      beforeId ?? null,
      limit,
    ]);
  }

  /** By date, then event, outcome and reason. `from` and `to`: UTC days, `YYYY-MM-DD`, both included. */
  countByDay(app: AppRef, from: string, to: string): Promise<AuthEventDayRow[]> {
    return this.dataSource.query(COUNT_BY_DAY, [app.organizationId, app.id, from, to]);
  }

  /** Of devices. `from` and `to` as above. */
  admitted(app: AppRef, from: string, to: string): Promise<AdmittedAttemptsRow[]> {
    return this.dataSource.query(ADMITTED, [app.organizationId, app.id, from, to]);
  }

  /** Different users of admitted attempts with these marks. */
  async countUsers(app: AppRef, from: string, to: string, marks: readonly string[]): Promise<number> {
    const parameters = [app.organizationId, app.id, from, to, marks];
    const [row] = await this.dataSource.query<{ count: string }[]>(COUNT_USERS, parameters);
    return Number(row?.count ?? 0);
  }

  countByProof(app: AppRef, from: string, to: string): Promise<ProofCountRow[]> {
    return this.dataSource.query(COUNT_BY_PROOF, [app.organizationId, app.id, from, to]);
  }

  /** Percentiles by nearest rank. `from` and `to` as above. */
  async measureClaimDelay(app: AppRef, from: string, to: string): Promise<ClaimDelayRow | undefined> {
    const rows = await this.dataSource.query<ClaimDelayRow[]>(CLAIM_DELAY, [app.organizationId, app.id, from, to]);
    return rows[0];
  }
}
