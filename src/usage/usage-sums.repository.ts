import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import type { DayRange } from '../common/day-range.rules.js';
import { readBounded } from './read-bounded.js';
import type { UsageDimension } from './usage-dimensions.js';
import type { TotalsRow } from './usage-rows.js';
import { SUM_COLUMNS } from './usage-sum-columns.js';

/** Sums of one UTC day, `YYYY-MM-DD`, and one type of provider. */
export interface DaySumsRow extends TotalsRow {
  readonly date: string;
  readonly provider: string;
}

/** Sums of what has one key of a dimension, or none. */
export interface KeySumsRow extends TotalsRow {
  readonly key: string | null;
}

/** What a column of `usage_days` tells apart; users have tables of their own. */
export type ColumnDimension = Exclude<UsageDimension, 'user'>;

const COLUMNS: Readonly<Record<ColumnDimension, string>> = {
  model: 'model',
  provider: 'provider_type',
  provider_slug: 'provider_slug',
  provider_gateway: 'provider_gateway_id',
  credential_source: 'credential_source',
  model_author: 'model_author',
  status: 'status',
  cost_source: 'cost_source',
  route: 'route',
  endpoint: 'endpoint_slug',
  app_version: 'app_version',
};

/** Columns that `usage_months` has too: what is known of a month once its days are gone. */
const MONTH_COLUMNS: ReadonlySet<string> = new Set(['provider_type', 'model', 'status']);

const SUMS = SUM_COLUMNS.map((name) => `sum(used.${name}) AS ${name}`).join(', ');

const TOTALS = `${SUMS},
  coalesce(sum(used.requests) FILTER (WHERE used.status = 'provider_error'), 0) AS errors,
  coalesce(sum(used.requests) FILTER (WHERE starts_with(used.status, 'blocked_')), 0) AS blocked`;

const FROM = '$3::date';
const TO = '$4::date';
const OF_APP = 'kept.organization_id = $1 AND kept.app_id = $2';
const ON_DAYS = `${OF_APP} AND kept.day BETWEEN ${FROM} AND ${TO}`;

/**
 * What was used on the days from `$3` to `$4`, both included: rows of days, and of those months that lie within whole
 * and are folded. No request is in both.
 */
function used(column: string): string {
  return `
    SELECT kept.day, kept.provider_type, kept.status, kept.${column} AS key, ${kept()} FROM usage_days kept
    WHERE ${ON_DAYS}
    UNION ALL
    SELECT kept.month, kept.provider_type, kept.status, kept.${column}, ${kept()} FROM usage_months kept
    WHERE ${OF_APP} AND kept.month >= ${FROM} AND (kept.month + interval '1 month')::date <= ${TO} + 1`;
}

/** The same of a column that sums have only as long as the events of their day are there: those have a route. */
function usedInDetail(column: string): string {
  return `
    SELECT kept.day, kept.provider_type, kept.status, kept.${column} AS key, ${kept()} FROM usage_days kept
    WHERE ${ON_DAYS} AND kept.route IS NOT NULL`;
}

function kept(): string {
  return SUM_COLUMNS.map((name) => `kept.${name}`).join(', ');
}

const BY_DAY = `
  SELECT to_char(used.day, 'YYYY-MM-DD') AS date, used.provider_type AS provider, ${TOTALS}
  FROM (${used('provider_type')}) used
  GROUP BY used.day, used.provider_type HAVING sum(used.requests) > 0
  ORDER BY used.day, used.provider_type COLLATE "C"`;

/** The most requests first, none of the keys last; at most `$5` of them. */
export const SHARES_IN_ORDER = 'ORDER BY requests DESC, key COLLATE "C" NULLS LAST LIMIT $5';

const byColumn = (column: string) => `
  SELECT used.key, ${TOTALS} FROM (${MONTH_COLUMNS.has(column) ? used(column) : usedInDetail(column)}) used
  GROUP BY used.key HAVING sum(used.requests) > 0 ${SHARES_IN_ORDER}`;

/** Totals of all that was used on the days, as one row, where it is not folded. */
export const EVERYTHING = `SELECT ${TOTALS} FROM (${usedInDetail('provider_type')}) used`;

/** Requests of an account that were not refused, from a day on. */
const REQUESTS_SINCE = `
  SELECT coalesce(sum(requests), 0) AS requests FROM usage_days
  WHERE organization_id = $1 AND day >= $2::date AND NOT starts_with(status, 'blocked_')`;

/**
 * Reads the sums of usage by day and by month, never the events. Sums and money arrive as texts, because they may
 * exceed what a number holds exactly.
 */
@Injectable()
export class UsageSumsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** By date, then by type of provider; a folded month is one date, its first. */
  sumByDay(app: AppRef, { from, to }: DayRange): Promise<DaySumsRow[]> {
    return readBounded(this.dataSource, BY_DAY, [app.organizationId, app.id, toDate(from), toDate(to)]);
  }

  /** At most `limit` keys, those with the most requests first. */
  sumByKey(app: AppRef, { from, to }: DayRange, by: ColumnDimension, limit: number): Promise<KeySumsRow[]> {
    const days = [toDate(from), toDate(to)];
    return readBounded(this.dataSource, byColumn(COLUMNS[by]), [app.organizationId, app.id, ...days, limit]);
  }

  /** Of all applications of the account, from a UTC day on, `YYYY-MM-DD`, of which no day is folded yet; as text. */
  async countRequestsSince(organizationId: string, day: string): Promise<string> {
    const rows = await readBounded<{ requests: string }>(this.dataSource, REQUESTS_SINCE, [organizationId, day]);
    return rows[0]?.requests ?? '0';
  }
}

/** A day as Postgres writes it, which has no year 0000. */
export function toDate(day: string): string {
  return day.startsWith('0000') ? `0001${day.slice('0000'.length)} BC` : day;
}
