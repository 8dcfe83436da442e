import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppUsageRow, MonthUsageRow, UsageEventFilter, UsageEventRow } from './usage-rows.js';

/** Members of an event's JSON text that are stored as they are. */
const PLAIN_COLUMNS = {
  event_id: 'text',
  organization_id: 'text',
  app_id: 'text',
  user_id: 'text',
  api_key_id: 'text',
  provider_type: 'text',
  provider_id: 'text',
  provider_slug: 'text',
  credential_source: 'text',
  model_author: 'text',
  served_provider: 'text',
  served_model: 'text',
  model: 'text',
  route: 'text',
  endpoint_slug: 'text',
  reported_cost_nano_usd: 'bigint',
  cost_source: 'text',
  app_version: 'text',
  auth_method: 'text',
  status: 'text',
  latency_ms: 'integer',
  attempts: 'json',
  response_id: 'text',
} as const;

/** Members whose absence means zero. */
const COUNT_COLUMNS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'audio_milliseconds',
  'cost_nano_usd',
] as const;

const PLAIN_NAMES = Object.keys(PLAIN_COLUMNS);

/** Storing an event again changes nothing. `$1` is a JSON array of events. */
const INSERT_EVENTS = `
  INSERT INTO usage_events (${[...PLAIN_NAMES, ...COUNT_COLUMNS].join(', ')}, client_aborted, created_at)
  SELECT ${PLAIN_NAMES.map((name) => `event.${name}`).join(', ')},
    ${COUNT_COLUMNS.map((name) => `coalesce(event.${name}, 0)`).join(', ')},
    coalesce(event.client_aborted, false),
    timestamptz 'epoch' + event.created_at_ms * interval '1 millisecond'
  FROM json_to_recordset($1::json) AS event(
    ${Object.entries(PLAIN_COLUMNS).map((column) => column.join(' '))},
    ${COUNT_COLUMNS.map((name) => `${name} bigint`)},
    client_aborted boolean, created_at_ms bigint)
  ON CONFLICT (event_id) DO NOTHING`;

/** Sums of events, as `numeric` texts. */
const TOTALS = `coalesce(sum(event.requests), 0) AS requests,
  coalesce(sum(event.input_tokens), 0) AS input_tokens,
  coalesce(sum(event.cached_input_tokens), 0) AS cached_input_tokens,
  coalesce(sum(event.cache_write_tokens), 0) AS cache_write_tokens,
  coalesce(sum(event.output_tokens), 0) AS output_tokens,
  coalesce(sum(event.cost_nano_usd), 0) AS cost_nano_usd`;

/** Events of the UTC month `$2`, which is `YYYY-MM`. */
const IN_MONTH = `event.created_at >= to_date($2, 'YYYY-MM')::timestamp AT TIME ZONE 'UTC'
  AND event.created_at < (to_date($2, 'YYYY-MM') + interval '1 month') AT TIME ZONE 'UTC'`;

/**
 * Whether events of an application `$1` exist in any account. Steps from one account to the next in the index: there
 * are few of them, and millions of events.
 */
const HAS_HISTORY = `
  WITH RECURSIVE account AS (
    (SELECT organization_id FROM usage_events ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT event.organization_id FROM usage_events event
      WHERE event.organization_id > account.organization_id ORDER BY event.organization_id LIMIT 1)
    FROM account WHERE account.organization_id IS NOT NULL)
  SELECT EXISTS (SELECT FROM account WHERE EXISTS (SELECT FROM usage_events event
    WHERE event.organization_id = account.organization_id AND event.app_id = $1)) AS found`;

/** All SQL of `usage_events`. Sums and money arrive as texts, because they may exceed what a number holds exactly. */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Stores a JSON array of events, given as text; those that are there already stay as they are. */
  async insert(events: string): Promise<void> {
    await this.dataSource.query(INSERT_EVENTS, [events]);
  }

  /** The same, and tells the ids of those that were not there. */
  async insertNew(events: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ event_id: string }[]>(`${INSERT_EVENTS} RETURNING event_id`, [events]);
    return rows.map((row) => row.event_id);
  }

  /** An application's totals of a UTC month, `YYYY-MM`. */
  async sumMonth(organizationId: string, appId: string, month: string): Promise<MonthUsageRow | undefined> {
    const rows = await this.dataSource.query<MonthUsageRow[]>(
      `SELECT ${TOTALS} FROM usage_events event
       WHERE event.organization_id = $1 AND ${IN_MONTH} AND event.app_id = $3`,
      [organizationId, month, appId],
    );
    return rows[0];
  }

  /** Totals of each application of the account that was used in the UTC month. */
  sumMonthByApp(organizationId: string, month: string): Promise<AppUsageRow[]> {
    return this.dataSource.query(
      `SELECT event.app_id, ${TOTALS},
         coalesce(sum(event.requests) FILTER (WHERE event.status = 'provider_error'), 0) AS errors,
         coalesce(sum(event.requests) FILTER (WHERE starts_with(event.status, 'blocked_')), 0) AS blocked
       FROM usage_events event
       WHERE event.organization_id = $1 AND ${IN_MONTH} GROUP BY event.app_id`,
      [organizationId, month],
    );
  }

  /** How many users of each application of the account are known from its events. */
  countUsersByApp(organizationId: string): Promise<{ app_id: string; users: string }[]> {
    return this.dataSource.query(
      `SELECT event.app_id, count(DISTINCT event.user_id) AS users FROM usage_events event
       WHERE event.organization_id = $1 AND event.user_id IS NOT NULL GROUP BY event.app_id`,
      [organizationId],
    );
  }

  async hasEvents(organizationId: string): Promise<boolean> {
    const rows = await this.dataSource.query<{ found: boolean }[]>(
      'SELECT EXISTS (SELECT FROM usage_events WHERE organization_id = $1) AS found',
      [organizationId],
    );
    return rows[0]?.found ?? false;
  }

  /** Of any account: an application's id must never be given to somebody else while its usage is kept. */
  async hasEventsOfApp(appId: string): Promise<boolean> {
    const rows = await this.dataSource.query<{ found: boolean }[]>(HAS_HISTORY, [appId]);
    return rows[0]?.found ?? false;
  }

  /** Newest first; at most `limit` of them. */
  listEvents(organizationId: string, appId: string, filter: UsageEventFilter): Promise<UsageEventRow[]> {
    return this.dataSource.query(
      `SELECT event.* FROM usage_events event
       WHERE event.organization_id = $1 AND event.app_id = $2
         AND ($3::bigint IS NULL OR event.id < $3) AND ($4::text IS NULL OR event.status = $4)
         AND ($5::text IS NULL OR event.provider_type = $5) AND ($6::text IS NULL OR event.user_id = $6)
         AND ($7::text IS NULL OR event.model = $7)
       ORDER BY event.id DESC LIMIT $8`,
      [
        organizationId,
        appId,
        filter.beforeId ?? null,
        filter.status ?? null,
        filter.provider ?? null,
        filter.user ?? null,
        filter.model ?? null,
        filter.limit,
      ],
    );
  }

  /** Who got a provider-side response; `undefined` when no event names it. Ids of applications are never reused. */
  async findResponseUser(appId: string, responseId: string): Promise<{ userId: string | null } | undefined> {
    const rows = await this.dataSource.query<{ userId: string | null }[]>(
      `SELECT event.user_id AS "userId" FROM usage_events event
       WHERE event.app_id = $1 AND event.response_id = $2 ORDER BY event.id LIMIT 1`,
      [appId, responseId],
    );
    return rows[0];
  }
}
