import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import type { DayRange } from '../../common/day-range.rules.js';
import { TOTAL_COLUMNS } from '../recording/usage-columns.js';
import {
  EVERYTHING,
  type KeySumsRow,
  readBounded,
  SHARES_IN_ORDER,
  toDate,
} from '../recording/usage-sums.repository.js';

/** Cost of one index lookup of a user's row, in rows of a sequential read. */
const LOOK_COSTS_ROWS = 8;

const FROM = '$3::date';
const TO = '$4::date';
const OF_APP = 'kept.organization_id = $1 AND kept.app_id = $2';
const ON_DAYS = `${OF_APP} AND kept.day BETWEEN ${FROM} AND ${TO}`;
const IN_TOUCHED_MONTHS = `${OF_APP} AND kept.day >= date_trunc('month', ${FROM}::timestamp)
  AND kept.day < date_trunc('month', ${TO}::timestamp) + interval '1 month'`;

const MOST_REQUESTS = 'ORDER BY requests DESC, user_id COLLATE "C" LIMIT $5';

/** Usage of each user in the range: month rows for whole months, day rows for the rest. */
function usedBy(users: string, measures: readonly string[]): string {
  const kept = ['user_id', ...measures].map((name) => `kept.${name}`).join(', ');
  const rowsOf = (table: string, unit: string, units: string) => `
    SELECT ${kept} FROM ${users} CROSS JOIN ${units} CROSS JOIN LATERAL (
      SELECT one.* FROM ${table} one
      WHERE one.organization_id = $1 AND one.app_id = $2 AND one.${unit} = ${units}.${unit}
        AND one.user_id = ${users}.user_id
      OFFSET 0) kept`;
  return `
    SELECT piece.user_id, ${measures.map((name) => `sum(piece.${name}) AS ${name}`).join(', ')} FROM (
      ${rowsOf('usage_user_months', 'month', 'whole_month')}
      UNION ALL
      ${rowsOf('usage_user_days', 'day', 'single_day')}) piece
    GROUP BY piece.user_id`;
}

/** Users of a month, by index-only scan; the queries that sum their usage check the account. */
const busyInMonth = (rest: string) => `
  SELECT kept.user_id FROM usage_user_months kept
  WHERE kept.app_id = $2 AND kept.month = touched_month.month AND kept.size > 0 ${rest}`;

/**
 * Finds the users with the most requests without summing the days of every user. A user with `n` requests in `m` months
 * has at least `n / m` in one of them. The busiest users of each month set a threshold. A user is a candidate only if
 * one month reaches the threshold's share and all months together reach the threshold. Without a threshold, or with too
 * many candidates, every user is summed: then the range has few days, or no users stand out.
 *
 * A month is whole when every day of it that has usage lies in the range and it begins after `$6`, the first day for
 * which the rows by user are kept.
 */
const BUSIEST = `
  known_day AS MATERIALIZED (
    SELECT kept.day, date_trunc('month', kept.day::timestamp)::date AS month, sum(kept.requests) AS requests,
      kept.day BETWEEN ${FROM} AND ${TO} AS is_asked
    FROM usage_all_users_days kept WHERE ${IN_TOUCHED_MONTHS} GROUP BY kept.day),
  touched_month AS MATERIALIZED (
    SELECT month, month > $6::date AND bool_and(is_asked) AS is_whole FROM known_day
    GROUP BY month HAVING bool_or(is_asked)),
  whole_month AS MATERIALIZED (SELECT month FROM touched_month WHERE is_whole),
  single_day AS MATERIALIZED (
    SELECT known_day.day FROM known_day JOIN touched_month USING (month) WHERE is_asked AND NOT is_whole),
  likely AS MATERIALIZED (
    SELECT DISTINCT busy.user_id FROM touched_month
    CROSS JOIN LATERAL (${busyInMonth('ORDER BY kept.size DESC LIMIT $5')}) busy),
  bar AS MATERIALIZED (
    SELECT requests, usage_size(ceil(requests / (SELECT count(*) FROM touched_month))::bigint) AS size
    FROM (${usedBy('likely', ['requests'])}) known ORDER BY requests DESC OFFSET $5 - 1 LIMIT 1),
  busy AS MATERIALIZED (
    SELECT DISTINCT busy.user_id FROM bar CROSS JOIN touched_month
    CROSS JOIN LATERAL (${busyInMonth('AND kept.size >= bar.size AND bar.size > 0 OFFSET 0')}) busy),
  choice AS MATERIALIZED (
    SELECT users BETWEEN 1 AND requests / ${LOOK_COSTS_ROWS} / pieces AS is_narrow
    FROM (
      SELECT (SELECT count(*) FROM busy) AS users,
        (SELECT count(*) FROM whole_month) + (SELECT count(*) FROM single_day) AS pieces,
        (SELECT sum(requests) FROM known_day WHERE is_asked) AS requests) effort
    WHERE pieces > 0),
  candidate AS MATERIALIZED (
    SELECT busy.user_id FROM busy CROSS JOIN bar CROSS JOIN LATERAL (
      SELECT sum(kept.requests) AS requests FROM usage_user_months kept
      WHERE ${OF_APP} AND kept.user_id = busy.user_id
        AND kept.month BETWEEN date_trunc('month', ${FROM}::timestamp)::date AND ${TO}
      OFFSET 0) most
    WHERE (SELECT is_narrow FROM choice) AND most.requests >= bar.requests),
  busiest AS MATERIALIZED (
    SELECT user_id FROM (
      ${usedBy('candidate', ['requests'])}
      UNION ALL
      SELECT kept.user_id, sum(kept.requests) FROM usage_user_days kept
      WHERE ${ON_DAYS} AND NOT (SELECT is_narrow FROM choice) GROUP BY kept.user_id) counted
    ${MOST_REQUESTS})`;

/** Usage without a user is the total minus the usage of all users. */
const BY_USER = `
  WITH ${BUSIEST},
  of_users AS (
    SELECT ${TOTAL_COLUMNS.map((name) => `coalesce(sum(kept.${name}), 0) AS ${name}`).join(', ')}
    FROM usage_all_users_days kept WHERE ${ON_DAYS}),
  everything AS (${EVERYTHING})
  SELECT * FROM (
    SELECT user_id AS key, $2::text AS app_id, ${TOTAL_COLUMNS.join(', ')} FROM (${usedBy('busiest', TOTAL_COLUMNS)}) of_user
    UNION ALL
    SELECT NULL, $2::text, ${TOTAL_COLUMNS.map((name) => `everything.${name} - of_users.${name}`).join(', ')}
    FROM everything CROSS JOIN of_users) shares
  WHERE requests > 0 ${SHARES_IN_ORDER}`;

/** Reads an application's usage by user; there may be hundreds of thousands of users. */
@Injectable()
export class UserSharesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * At most `limit` users, most requests first; the null key is usage without a user. Sums are texts.
   *
   * @param keptFrom the first UTC day, `YYYY-MM-DD`, with rows by user.
   */
  sumByUser(app: AppRef, { from, to }: DayRange, limit: number, keptFrom: string): Promise<KeySumsRow[]> {
    return readBounded(this.dataSource, BY_USER, [
      app.organizationId,
      app.id,
      toDate(from),
      toDate(to),
      limit,
      toDate(keptFrom),
    ]);
  }
}
