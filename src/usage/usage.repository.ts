import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import type {
  AppUsageRow,
  CurrentUserRow,
  FailuresRow,
  MonthUsageRow,
  UsageEventFilter,
  UsageEventRow,
  UserUsageRow,
} from './usage-rows.js';

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

/**
 * All reading of `usage_events` and of its sums by user. Sums and money arrive as texts, because they may exceed what a
 * number holds exactly.
 */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

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

  /** Sums of those of the users who used the application in the UTC month, `YYYY-MM`. */
  listUserMonths(app: AppRef, userIds: readonly string[], month: string): Promise<UserUsageRow[]> {
    return this.dataSource.query(
      `SELECT used.user_id, used.requests, used.input_tokens, used.cached_input_tokens, used.cache_write_tokens,
         used.output_tokens, used.cost_nano_usd, used.errors, used.blocked
       FROM usage_user_months used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.user_id = ANY($3)
         AND used.month = to_date($4, 'YYYY-MM')`,
      [app.organizationId, app.id, userIds, month],
    );
  }

  /** What a user has used in the UTC month of a day, and on that day; `YYYY-MM-DD`. */
  async findUserMonth(app: AppRef, userId: string, today: string): Promise<CurrentUserRow | undefined> {
    const rows = await this.dataSource.query<CurrentUserRow[]>(
      `SELECT CASE used.latest_day WHEN $4::date THEN used.latest_day_requests ELSE 0 END AS requests_today,
         used.cost_nano_usd
       FROM usage_user_months used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.user_id = $3
         AND used.month = date_trunc('month', $4::date::timestamp)::date`,
      [app.organizationId, app.id, userId, today],
    );
    return rows[0];
  }

  /** Requests that did not end `ok`, from the first UTC day to the last one inclusive, `YYYY-MM-DD`. */
  countFailuresByDay(app: AppRef, from: string, to: string): Promise<FailuresRow[]> {
    return this.dataSource.query(
      `SELECT to_char(event.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, event.status,
         sum(event.requests) AS count
       FROM usage_events event
       WHERE event.organization_id = $1 AND event.app_id = $2 AND event.status <> 'ok'
         AND event.created_at >= $3::date::timestamp AT TIME ZONE 'UTC'
         AND event.created_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'
       GROUP BY 1, 2 ORDER BY 1, 2`,
      [app.organizationId, app.id, from, to],
    );
  }
}
