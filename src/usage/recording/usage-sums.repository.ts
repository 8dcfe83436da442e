import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DayRange } from '../../common/day-range.rules.js';
import {
  type AccountDimension,
  type GroupDimension,
  isOfApps,
  type SeriesDimension,
  SUM_COLUMNS,
  TOTAL_COLUMNS,
} from './usage-columns.js';
import type { TotalsRow } from './usage-rows.js';

/** Whose usage is read. */
export interface UsageScope {
  readonly organizationId: string;
  /** An application; null: all of the account, deleted ones included. */
  readonly id: string | null;
}

/** Sums of one UTC day, `YYYY-MM-DD`, and one key of a dimension. */
export interface DaySumsRow extends TotalsRow {
  readonly date: string;
  readonly key: string;
}

/** Sums of one key of a dimension; null groups usage without a key. */
export interface KeySumsRow extends TotalsRow {
  readonly key: string | null;
  /** The application of the key, for `isOfApps`. */
  readonly app_id?: string | null;
}

/** Calls of one provider instance; counts as texts. */
export interface ProviderSumsRow {
  readonly slug: string;
  readonly requests: string;
  readonly errors: string;
  /** UTC, `YYYY-MM-DD`; null without a success. */
  readonly last_ok_day: string | null;
}

/** Dimensions that are columns of `usage_days`; users, application keys and groups have tables of their own. */
export type ColumnDimension = Exclude<AccountDimension, 'user' | 'key' | GroupDimension>;

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
  app: 'app_id',
};

/** Columns that `usage_months` has too, for months whose days are folded. */
const MONTH_COLUMNS: ReadonlySet<string> = new Set(['provider_type', 'model', 'status', 'app_id']);

const SUMS = SUM_COLUMNS.map((name) => `sum(used.${name}) AS ${name}`).join(', ');

const FAILURES = `
  coalesce(sum(used.requests) FILTER (WHERE used.status = 'provider_error'), 0) AS errors,
  coalesce(sum(used.requests) FILTER (WHERE starts_with(used.status, 'blocked_')), 0) AS blocked`;

export const TOTALS = `${SUMS}, ${FAILURES}`;

const FROM = '$3::date';
const TO = '$4::date';
export const IN_SCOPE = 'kept.organization_id = $1 AND ($2::text IS NULL OR kept.app_id = $2)';
export const ON_DAYS = `${IN_SCOPE} AND kept.day BETWEEN ${FROM} AND ${TO}`;

/**
 * Usage from day `$3` to day `$4`, both inclusive: rows of `usage_days`, and rows of `usage_months` of folded months
 * that lie entirely in the range. No request is in both.
 */
function used(column: string): string {
  return `
    SELECT kept.day, kept.app_id, kept.status, kept.${column} AS key, ${kept()} FROM usage_days kept
    WHERE ${ON_DAYS}
    UNION ALL
    SELECT kept.month, kept.app_id, kept.status, kept.${column}, ${kept()} FROM usage_months kept
    WHERE ${IN_SCOPE} AND kept.month >= ${FROM} AND (kept.month + interval '1 month')::date <= ${TO} + 1`;
}

/** Usage by a column that the sums have only while the events of the day exist; only those rows have a route. */
function usedInDetail(column: string): string {
  return `
    SELECT kept.day, kept.app_id, kept.status, kept.${column} AS key, ${kept()} FROM usage_days kept
    WHERE ${ON_DAYS} AND kept.route IS NOT NULL`;
}

function kept(): string {
  return SUM_COLUMNS.map((name) => `kept.${name}`).join(', ');
}

const byDay = (column: string) => `
  SELECT to_char(used.day, 'YYYY-MM-DD') AS date, used.key, ${TOTALS} FROM (${used(column)}) used
  GROUP BY used.day, used.key HAVING sum(used.requests) > 0 ORDER BY used.day, used.key COLLATE "C"`;

/** Most requests first, the null key last among equals; at most `$5` rows. */
export const SHARES_IN_ORDER = 'ORDER BY requests DESC, key COLLATE "C" NULLS LAST, app_id LIMIT $5';

function byColumn(by: ColumnDimension): string {
  const column = COLUMNS[by];
  const app = isOfApps(by) ? 'used.app_id' : 'NULL::text';
  return `
    SELECT used.key, ${app} AS app_id, ${TOTALS}
    FROM (${MONTH_COLUMNS.has(column) ? used(column) : usedInDetail(column)}) used
    GROUP BY 1, 2 HAVING sum(used.requests) > 0 ${SHARES_IN_ORDER}`;
}

/** Usage without a key is all usage minus that of all keys. @param where the rows of a table of its own by key. */
const byOwnRows = (table: string, key: string, where: string) => `
  SELECT part.key, part.app_id, ${TOTAL_COLUMNS.map((name) => `sum(part.${name}) AS ${name}`).join(', ')} FROM (
    SELECT kept.${key} AS key, kept.app_id, ${TOTAL_COLUMNS.map((name) => `kept.${name}`).join(', ')}
    FROM ${table} kept WHERE ${where}
    UNION ALL
    SELECT NULL, kept.app_id, ${TOTAL_COLUMNS.map((name) => `- kept.${name}`).join(', ')}
    FROM ${table} kept WHERE ${where}
    UNION ALL
    SELECT NULL, kept.app_id, ${kept()}, CASE kept.status WHEN 'provider_error' THEN kept.requests ELSE 0 END,
      CASE WHEN starts_with(kept.status, 'blocked_') THEN kept.requests ELSE 0 END
    FROM usage_days kept WHERE ${ON_DAYS} AND kept.route IS NOT NULL) part
  GROUP BY part.key, part.app_id HAVING sum(part.requests) > 0 ${SHARES_IN_ORDER}`;

const BY_API_KEY = byOwnRows('usage_key_days', 'api_key_id', ON_DAYS);
const BY_GROUP = byOwnRows('usage_group_days', 'group_value', `${ON_DAYS} AND kept.group_name = $6`);

/** Totals of the range as one row, without folded usage. */
export const EVERYTHING = `SELECT ${TOTALS} FROM (${usedInDetail('provider_type')}) used`;

const ALL_OF_IT = `
  SELECT ${SUM_COLUMNS.map((name) => `coalesce(sum(used.${name}), 0) AS ${name}`).join(', ')}, ${FAILURES}
  FROM (${used('provider_type')}) used`;

/** Calls that reached each provider instance; folded days have no slugs. */
const BY_PROVIDER = `
  SELECT provider_slug AS slug,
    sum(requests) AS requests,
    coalesce(sum(requests) FILTER (WHERE status = 'provider_error'), 0) AS errors,
    to_char(max(day) FILTER (WHERE status = 'ok'), 'YYYY-MM-DD') AS last_ok_day
  FROM usage_days
  WHERE organization_id = $1 AND day BETWEEN $2::date AND $3::date AND route IS NOT NULL
    AND provider_slug IS NOT NULL AND NOT starts_with(status, 'blocked_')
  GROUP BY provider_slug HAVING sum(requests) > 0`;

/** Requests of an account from a day on, without refused ones. */
const REQUESTS_SINCE = `
  SELECT coalesce(sum(requests), 0) AS requests FROM usage_days
  WHERE organization_id = $1 AND day >= $2::date AND NOT starts_with(status, 'blocked_')`;

/**
 * Reads usage sums by day and by month, never events. Sums and money are texts, because they may exceed the safe
 * integers.
 */
@Injectable()
export class UsageSumsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Totals of the range. */
  async sumRange(scope: UsageScope, range: DayRange): Promise<TotalsRow | undefined> {
    const rows = await readBounded<TotalsRow>(this.dataSource, ALL_OF_IT, onDays(scope, range));
    return rows[0];
  }

  /** By date, then by key; a folded month has the date of its first day. */
  sumByDay(scope: UsageScope, range: DayRange, by: SeriesDimension): Promise<DaySumsRow[]> {
    return readBounded(this.dataSource, byDay(COLUMNS[by]), onDays(scope, range));
  }

  /** At most `limit` keys, most requests first. */
  sumByKey(scope: UsageScope, range: DayRange, by: ColumnDimension, limit: number): Promise<KeySumsRow[]> {
    return readBounded(this.dataSource, byColumn(by), [...onDays(scope, range), limit]);
  }

  /** At most `limit` application keys, most requests first. */
  sumByApiKey(scope: UsageScope, range: DayRange, limit: number): Promise<KeySumsRow[]> {
    return readBounded(this.dataSource, BY_API_KEY, [...onDays(scope, range), limit]);
  }

  /** At most `limit` groups of one kind, most requests first. */
  sumByGroup(scope: UsageScope, range: DayRange, by: GroupDimension, limit: number): Promise<KeySumsRow[]> {
    return readBounded(this.dataSource, BY_GROUP, [...onDays(scope, range), limit, by.slice('group:'.length)]);
  }

  /** Calls of all applications of an account, by the instance that answered them or failed. */
  sumByProvider(organizationId: string, { from, to }: DayRange): Promise<ProviderSumsRow[]> {
    return readBounded(this.dataSource, BY_PROVIDER, [organizationId, toDate(from), toDate(to)]);
  }

  /**
   * Requests of all applications of the account from a UTC day on, `YYYY-MM-DD`, as text. No day of that range may be
   * folded.
   */
  async countRequestsSince(organizationId: string, day: string): Promise<string> {
    const rows = await readBounded<{ requests: string }>(this.dataSource, REQUESTS_SINCE, [organizationId, day]);
    return rows[0]?.requests ?? '0';
  }
}

/** The parameters of `ON_DAYS`. */
export function onDays({ organizationId, id }: UsageScope, { from, to }: DayRange): (string | null)[] {
  return [organizationId, id, toDate(from), toDate(to)];
}

/** A day in Postgres syntax, which has no year 0000. */
export function toDate(day: string): string {
  return day.startsWith('0000') ? `0001${day.slice('0000'.length)} BC` : day;
}

/** Maximum duration of an interactive query; five times the expected duration. */
const READ_TIMEOUT_MS = 1_500;

/** Enough for sums over many users; larger sorts and hashes spill to disk. */
const READ_MEMORY = '32MB';

/** JIT compilation takes longer than any of these queries should. */
const BOUNDS = `SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = ${READ_TIMEOUT_MS};
  SET LOCAL work_mem = '${READ_MEMORY}'; SET LOCAL jit = off`;

/**
 * Runs an interactive read on tables that may have millions of rows, with a time limit, so that it cannot occupy a
 * connection that requests need.
 *
 * @throws unknown on the time limit; the response is 503 `service_unavailable`.
 * Source: docs/reference/accounting.md#sums, docs/reference/security.md#dependency-failures.
 */
export function readBounded<Row>(dataSource: DataSource, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
  return dataSource.transaction(async (tx) => {
    await tx.query(BOUNDS);
    return tx.query<Row[]>(sql, [...parameters]);
  });
}
