import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import { instantOf } from '../../common/clock.js';
import { earliestEventId } from './event/event-ids.js';
import { SUM_COLUMNS, TOTAL_COLUMNS } from './usage-columns.js';
import type {
  AccountUsageRow,
  AppUsageRow,
  CurrentUserRow,
  FailuresRow,
  MonthUsageRow,
  TotalsRow,
  UsageEventFilter,
  UsageEventRow,
  UserDayRow,
  UserUsageRow,
} from './usage-rows.js';
import { readBounded } from './usage-sums.repository.js';

/** Sums of an application's or an account's rows of a month, as `numeric` texts. @param of a filter of the rows. */
const totals = (names: readonly string[], of = '') =>
  names.map((name) => `coalesce(sum(used.${name})${of}, 0) AS ${name}`).join(', ');

const MONTH = "used.month = to_date($2, 'YYYY-MM')";

/** Whether any usage exists, in day or month rows. */
const hasUsage = (where: string) => `
  SELECT EXISTS (SELECT FROM usage_days WHERE ${where}) OR EXISTS (SELECT FROM usage_months WHERE ${where}) AS found`;

/** One user and UTC day, `YYYY-MM-DD`. */
export interface UserDay {
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string;
  readonly day: string;
}

const COUNT_REQUESTS_OF_USERS = `
  SELECT coalesce(used.requests - used.blocked, 0) AS count
  FROM unnest($1::text[], $2::text[], $3::text[], $4::date[])
    WITH ORDINALITY AS asked(organization_id, app_id, user_id, day, place)
  LEFT JOIN usage_user_days used USING (organization_id, app_id, user_id, day)
  ORDER BY asked.place`;

const LIST_EVENTS = `
  SELECT event.* FROM usage_events event
  WHERE event.organization_id = $1 AND event.app_id = $2 AND ($3::bigint IS NULL OR event.id < $3)
  ORDER BY event.id DESC LIMIT $4`;

/**
 * Filtered events. A kind is one combination of model, provider type and status. For each kind of the application or
 * user, one scan of an index that is ordered by kind and id finds the newest events, so the cost of a page does not
 * depend on how rare the matching events are. A loose index scan finds the kinds: they are few, the events are
 * millions. The query reads only the rows of the page itself; the index alone answers the rest.
 */
const listEventsOf = (user: string) => `
  WITH RECURSIVE kind AS (
    (SELECT model, provider_type, status FROM usage_events
      WHERE app_id = $2 AND ${user} AND ($8::text IS NULL OR model = $8)
      ORDER BY model, provider_type, status LIMIT 1)
    UNION ALL
    SELECT next.* FROM kind CROSS JOIN LATERAL (
      SELECT event.model, event.provider_type, event.status FROM usage_events event
      WHERE event.app_id = $2 AND ${user}
        AND (event.model, event.provider_type, event.status) > (kind.model, kind.provider_type, kind.status)
      ORDER BY event.model, event.provider_type, event.status LIMIT 1) next
    WHERE $8::text IS NULL OR next.model = $8)
  SELECT event.* FROM (
    SELECT newest.id FROM kind CROSS JOIN LATERAL (
      SELECT one.id FROM usage_events one
      WHERE one.app_id = $2 AND ${user} AND one.model = kind.model AND one.provider_type = kind.provider_type
        AND one.status = kind.status AND ($3::bigint IS NULL OR one.id < $3)
      ORDER BY one.id DESC LIMIT $4) newest
    WHERE ($5::text[] IS NULL OR kind.status = ANY ($5)) AND ($6::text IS NULL OR kind.provider_type = $6)
    ORDER BY newest.id DESC LIMIT $4) page
  JOIN usage_events event ON event.id = page.id
  WHERE event.organization_id = $1 AND event.app_id = $2
  ORDER BY event.id DESC`;

const LIST_FILTERED = listEventsOf('$7::text IS NULL');
const LIST_OF_USER = listEventsOf('user_id = $7');

/**
 * Reads `usage_events` and the sums that are updated with it. Sums and money are texts, because they may exceed the
 * safe integers.
 */
@Injectable()
export class UsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** An application's totals of a UTC month, `YYYY-MM`. */
  async sumMonth(organizationId: string, appId: string, month: string): Promise<MonthUsageRow | undefined> {
    const rows = await this.read<MonthUsageRow>(
      `SELECT ${totals(SUM_COLUMNS)} FROM usage_app_months used
       WHERE used.organization_id = $1 AND ${MONTH} AND used.app_id = $3`,
      [organizationId, month, appId],
    );
    return rows[0];
  }

  /** Totals of a UTC month, `YYYY-MM`, by application, without applications that have no usage. */
  sumMonthByApp(organizationId: string, appIds: readonly string[], month: string): Promise<AppUsageRow[]> {
    return this.read(
      `SELECT used.app_id, ${totals(TOTAL_COLUMNS)} FROM usage_app_months used
       WHERE used.organization_id = $1 AND ${MONTH} AND used.app_id = ANY ($3) GROUP BY used.app_id`,
      [organizationId, month, appIds],
    );
  }

  /** Totals of a UTC month, `YYYY-MM`, of all applications of the account, deleted ones included. */
  async sumMonthOfAll(organizationId: string, month: string): Promise<TotalsRow | undefined> {
    const rows = await this.read<TotalsRow>(
      `SELECT ${totals(TOTAL_COLUMNS)} FROM usage_app_months used WHERE used.organization_id = $1 AND ${MONTH}`,
      [organizationId, month],
    );
    return rows[0];
  }

  /**
   * Totals of a UTC month, `YYYY-MM`: of every application of the account that has usage in any month, deleted ones
   * included, and of the account.
   */
  sumMonthOfAccount(organizationId: string, month: string): Promise<AccountUsageRow[]> {
    return this.read(
      `SELECT used.app_id, min(used.first_day)::text AS first_day, ${totals(TOTAL_COLUMNS, ` FILTER (WHERE ${MONTH})`)}
       FROM usage_app_months used
       WHERE used.organization_id = $1 GROUP BY GROUPING SETS ((used.app_id), ()) ORDER BY used.app_id`,
      [organizationId, month],
    );
  }

  hasEvents(organizationId: string): Promise<boolean> {
    return this.isFound(hasUsage('organization_id = $1'), organizationId);
  }

  /** Checks all accounts: an application id must not be given to another account while its usage is kept. */
  hasEventsOfApp(appId: string): Promise<boolean> {
    return this.isFound(hasUsage('app_id = $1'), appId);
  }

  /** Newest first; at most `limit` events. */
  listEvents(organizationId: string, appId: string, filter: UsageEventFilter): Promise<UsageEventRow[]> {
    const { limit, beforeId = null, statuses = null, provider = null, user = null, model = null } = filter;
    const page = [organizationId, appId, beforeId, limit];
    const wanted = [statuses, provider, user, model];
    if (wanted.every((one) => one === null)) return this.read(LIST_EVENTS, page);
    return this.read(user === null ? LIST_FILTERED : LIST_OF_USER, [...page, ...wanted]);
  }

  /** Sums of a UTC month, `YYYY-MM`, by user, without users that have no usage. */
  listUserMonths(app: AppRef, userIds: readonly string[], month: string): Promise<UserUsageRow[]> {
    return this.dataSource.query(
      `SELECT used.user_id, ${SUM_COLUMNS.map((name) => `used.${name}`).join(', ')}, used.errors, used.blocked
       FROM usage_user_months used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.user_id = ANY($3)
         AND used.month = to_date($4, 'YYYY-MM')`,
      [app.organizationId, app.id, userIds, month],
    );
  }

  /** Sums of a user in a UTC month, `YYYY-MM`, by day, without days that have no usage. */
  listUserDays(app: AppRef, userId: string, month: string): Promise<UserDayRow[]> {
    return this.dataSource.query(
      `SELECT to_char(used.day, 'YYYY-MM-DD') AS date, ${SUM_COLUMNS.map((name) => `used.${name}`).join(', ')},
         used.errors, used.blocked
       FROM usage_user_days used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.user_id = $3
         AND used.day = ANY (ARRAY(SELECT to_date($4, 'YYYY-MM') + n FROM generate_series(0, 30) AS n))
         AND date_trunc('month', used.day::timestamp) = to_date($4, 'YYYY-MM')
       ORDER BY used.day`,
      [app.organizationId, app.id, userId, month],
    );
  }

  /** A user's usage on a UTC day, `YYYY-MM-DD`, and in its month. */
  async findUserMonth(app: AppRef, userId: string, today: string): Promise<CurrentUserRow | undefined> {
    const rows = await this.dataSource.query<CurrentUserRow[]>(
      `SELECT CASE used.latest_day WHEN $4::date THEN used.latest_day_requests ELSE 0 END AS requests_today,
         coalesce(used.cost_nano_usd, 0) AS cost_nano_usd, coalesce(used.estimated_nano_usd, 0) AS estimated_nano_usd,
         days.day_cost_nano_usd, days.week_cost_nano_usd, coalesce((
           SELECT spent_nano_usd FROM budget_periods WHERE app_id = $2 AND scope = 'user' AND subject = $3
             AND window_name = 'day_tokens' AND period_start = $4::date::timestamp), 0) AS tokens_today
       FROM (
         SELECT coalesce(sum(cost_nano_usd) FILTER (WHERE day = $4::date), 0) AS day_cost_nano_usd,
           coalesce(sum(cost_nano_usd), 0) AS week_cost_nano_usd
         FROM usage_user_days WHERE organization_id = $1 AND app_id = $2 AND user_id = $3 AND day = ANY (ARRAY(
           SELECT generate_series(date_trunc('week', $4::date::timestamp), $4::date, interval '1 day')::date))) days
       LEFT JOIN usage_user_months used ON used.organization_id = $1 AND used.app_id = $2 AND used.user_id = $3
         AND used.month = date_trunc('month', $4::date::timestamp)::date`,
      [app.organizationId, app.id, userId, today],
    );
    return rows[0];
  }

  /** Requests with a status other than `ok`, from the first to the last UTC day inclusive, `YYYY-MM-DD`. */
  countFailuresByDay(app: AppRef, from: string, to: string): Promise<FailuresRow[]> {
    return this.read(
      `SELECT to_char(used.day, 'YYYY-MM-DD') AS date, used.status, sum(used.requests) AS count
       FROM usage_days used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.day BETWEEN $3::date AND $4::date
         AND used.status <> 'ok'
       GROUP BY used.day, used.status ORDER BY used.day, used.status COLLATE "C"`,
      [app.organizationId, app.id, from, to],
    );
  }

  /** Requests of an application on a UTC day, `YYYY-MM-DD`, without refused ones. */
  countRequestsOn(app: AppRef, day: string): Promise<number> {
    return this.count(
      `SELECT coalesce(sum(used.requests), 0) AS count FROM usage_days used
       WHERE used.organization_id = $1 AND used.app_id = $2 AND used.day = $3::date
         AND NOT starts_with(used.status, 'blocked_')`,
      [app.organizationId, app.id, day],
    );
  }

  /** Requests of users on UTC days, without refused ones, in the order of `asked`. */
  async countRequestsOfUsersOn(asked: readonly UserDay[]): Promise<number[]> {
    const rows = await this.dataSource.query<{ count: string }[]>(COUNT_REQUESTS_OF_USERS, [
      asked.map(({ organizationId }) => organizationId),
      asked.map(({ appId }) => appId),
      asked.map(({ userId }) => userId),
      asked.map(({ day }) => day),
    ]);
    return rows.map(({ count }) => Number(count));
  }

  /**
   * Requests of all users and applications by minute, without refused ones; an empty user id is the whole application.
   * Event ids begin with their time, so the scan starts at an id.
   */
  listMinutes(fromMs: number): Promise<{ appId: string; userId: string; minuteStartMs: number; requests: number }[]> {
    return this.dataSource.query(
      `SELECT app_id AS "appId", CASE GROUPING(user_id) WHEN 1 THEN '' ELSE user_id END AS "userId",
         (extract(epoch FROM date_trunc('minute', created_at)) * 1000)::float8 AS "minuteStartMs",
         sum(requests)::float8 AS requests
       FROM usage_events
       WHERE event_id >= $1 AND created_at >= $2 AND NOT starts_with(status, 'blocked_')
       GROUP BY GROUPING SETS ((app_id, date_trunc('minute', created_at)),
         (app_id, user_id, date_trunc('minute', created_at)))
       HAVING GROUPING(user_id) = 1 OR user_id IS NOT NULL`,
      [earliestEventId(fromMs), instantOf(fromMs)],
    );
  }

  private async count(sql: string, parameters: readonly unknown[]): Promise<number> {
    const rows = await this.dataSource.query<{ count: string }[]>(sql, [...parameters]);
    return Number(rows[0]?.count ?? 0);
  }

  private async isFound(sql: string, id: string): Promise<boolean> {
    const rows = await this.dataSource.query<{ found: boolean }[]>(sql, [id]);
    return rows[0]?.found ?? false;
  }

  private read<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    return readBounded(this.dataSource, sql, parameters);
  }
}
