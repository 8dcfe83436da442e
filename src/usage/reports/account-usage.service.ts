import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import {
  type AccountDimension,
  isGroupDimension,
  isOfApps,
  LASTING_DIMENSIONS,
  type SeriesDimension,
} from '../recording/usage-columns.js';
import { firstEventDay } from '../recording/usage-range.rules.js';
import { type KeySumsRow, type UsageScope, UsageSumsRepository } from '../recording/usage-sums.repository.js';
import { AccountUsageRepository, hasLatency, type LatencyRow } from './account-usage.repository.js';
import { csvLine, exactUsd } from './csv.rules.js';
import { type Latency, latencyOf, NO_LATENCY, periodBefore } from './usage-period.rules.js';
import { NO_USAGE, toUsageTotals, type UsageTotals } from './usage-totals.rules.js';
import { UserSharesRepository } from './user-shares.repository.js';

/** More applications than an account has. */
const EVERY_APP = 100_000;

/** Counts of a breakdown as CSV. */
const CSV_COUNTS = [
  ...(['requests', 'errors', 'blocked'] as const),
  ...(['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens'] as const),
];

/** Requested days, `YYYY-MM-DD`; an absent bound has its default. */
export interface AskedUsage {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface AskedSeries extends AskedUsage {
  readonly by: SeriesDimension;
  readonly unit: SeriesUnit;
}

export interface AskedBreakdown extends AskedUsage {
  readonly by: AccountDimension;
  /** Maximum rows to return, 1 or more. */
  readonly limit: number;
}

export const SERIES_UNITS = ['day', 'hour'] as const;

export type SeriesUnit = (typeof SERIES_UNITS)[number];

/** Usage of some days. */
export interface UsagePeriod extends DayRange, UsageTotals {
  readonly latency: Latency;
  readonly duration: Latency;
}

/** Source: docs/reference/management-api.md#usage-of-the-account. */
export interface UsageSummary extends UsagePeriod {
  readonly app_id: string | null;
  /** The first day, `YYYY-MM-DD`, that latencies are kept of. */
  readonly latency_from: string;
  readonly previous: UsagePeriod;
}

/** Usage of one key of the dimension in one day or hour. */
export interface SeriesBucket extends UsageTotals {
  readonly start: string;
  readonly key: string;
}

export interface LatencyBucket extends Latency {
  readonly start: string;
}

export interface UsageSeries extends DayRange {
  readonly app_id: string | null;
  readonly unit: SeriesUnit;
  readonly by: SeriesDimension;
  readonly buckets: readonly SeriesBucket[];
  readonly latencies: readonly LatencyBucket[];
}

/** Usage of one key of the dimension; null groups usage without a key. */
export interface AccountShare extends UsageTotals {
  readonly key: string | null;
  readonly app_id: string | null;
  readonly latency: Latency | null;
  readonly duration: Latency | null;
}

export interface AccountBreakdown extends DayRange {
  readonly app_id: string | null;
  readonly by: AccountDimension;
  readonly complete_from: string;
  /** Usage of the range from `complete_from` on; the total for shares. */
  readonly total: UsageTotals;
  readonly rows: readonly AccountShare[];
}

/** Reads usage of a whole account, or of one application of it. */
@Injectable()
export class AccountUsageReports {
  constructor(
    private readonly sums: UsageSumsRepository,
    private readonly usage: AccountUsageRepository,
    private readonly users: UserSharesRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws invalid_request as `dayRange` does. */
  async summaryOf(scope: UsageScope, asked: AskedUsage): Promise<UsageSummary> {
    const today = this.clock.utcDay();
    const range = dayRange(asked, today);
    const period = await this.periodOf(scope, range);
    const previous = await this.periodOf(scope, periodBefore(range));
    const kept = firstEventDay(today);
    return { app_id: scope.id, ...period, latency_from: range.from > kept ? range.from : kept, previous };
  }

  /** @throws invalid_request as `dayRange` does, and for hours of more than one day or of days without events. */
  async timeseriesOf(scope: UsageScope, { by, unit, ...asked }: AskedSeries): Promise<UsageSeries> {
    const today = this.clock.utcDay();
    const range = dayRange(unit === 'hour' ? { ...asked, from: asked.from ?? asked.to ?? today } : asked, today);
    if (unit === 'hour') requireOneDay(range, firstEventDay(today));
    const rows =
      unit === 'hour' ? await this.usage.sumByHour(scope, range.to, by) : await this.sums.sumByDay(scope, range, by);
    const latencies =
      unit === 'hour'
        ? await this.usage.latenciesByHour(scope, range.to)
        : await this.usage.latenciesByDay(scope, range);
    const buckets = rows.map((row) => ({ start: row.date, key: row.key, ...toUsageTotals(row) }));
    const byStart = [...timesOf(latencies)].map(([start, { latency }]) => ({ start, ...latency }));
    byStart.sort((one, other) => (one.start < other.start ? -1 : 1));
    return { app_id: scope.id, ...range, unit, by, buckets, latencies: byStart };
  }

  /** @throws invalid_request as `dayRange` does. */
  async breakdownOf(scope: UsageScope, { by, limit, ...asked }: AskedBreakdown): Promise<AccountBreakdown> {
    const today = this.clock.utcDay();
    const range = dayRange(asked, today);
    const complete_from = completeFrom(by, range.from, today);
    const complete = { from: complete_from, to: range.to };
    const total = await this.sums.sumRange(scope, complete);
    const rows = await this.sharesOf(scope, complete, by, limit);
    const times = hasLatency(by)
      ? timesOf(
          await this.usage.latenciesByKey(
            scope,
            complete,
            by,
            rows.map(({ key }) => key),
          ),
        )
      : undefined;
    const shares = rows.map((row) => ({
      key: row.key,
      app_id: isOfApps(by) ? (row.app_id ?? null) : null,
      ...toUsageTotals(row),
      ...(times === undefined ? { latency: null, duration: null } : (times.get(row.key ?? '') ?? NO_TIMES)),
    }));
    return {
      app_id: scope.id,
      by,
      ...range,
      complete_from,
      total: total === undefined ? NO_USAGE : toUsageTotals(total),
      rows: shares,
    };
  }

  /**
   * All rows of a breakdown as lines of CSV.
   *
   * @throws invalid_request as `dayRange` does.
   */
  async breakdownLines(scope: UsageScope, { by, limit, ...asked }: AskedBreakdown): Promise<Iterable<string>> {
    const today = this.clock.utcDay();
    const { from, to } = dayRange(asked, today);
    const rows = await this.sharesOf(scope, { from: completeFrom(by, from, today), to }, by, limit);
    const ofApps = isOfApps(by);
    const header = [by, ...(ofApps ? ['app'] : []), ...CSV_COUNTS, 'cost_usd', 'estimated_cost_usd'];
    const lines = rows.map((row) => [
      ...[row.key, ...(ofApps ? [row.app_id ?? null] : [])],
      ...CSV_COUNTS.map((name) => row[name]),
      ...[exactUsd(row.cost_nano_usd), exactUsd(row.estimated_nano_usd)],
    ]);
    return [header, ...lines].map(csvLine);
  }

  private async periodOf(scope: UsageScope, range: DayRange): Promise<UsagePeriod> {
    const totals = await this.sums.sumRange(scope, range);
    const times = timesOf(await this.usage.latencies(scope, range));
    return {
      ...range,
      ...(totals === undefined ? NO_USAGE : toUsageTotals(totals)),
      ...(times.get('') ?? NO_TIMES),
    };
  }

  private sharesOf(scope: UsageScope, range: DayRange, by: AccountDimension, limit: number): Promise<KeySumsRow[]> {
    if (by === 'key') return this.sums.sumByApiKey(scope, range, limit);
    if (isGroupDimension(by)) return this.sums.sumByGroup(scope, range, by, limit);
    return by === 'user' ? this.usersOf(scope, range, limit) : this.sums.sumByKey(scope, range, by, limit);
  }

  /**
   * The users with the most requests. Applications are read in descending order of requests, until the next has
   * fewer than the last user found: none of its users can have more requests than it has.
   */
  private async usersOf(scope: UsageScope, range: DayRange, limit: number): Promise<KeySumsRow[]> {
    const { organizationId } = scope;
    const keptFrom = firstEventDay(this.clock.utcDay());
    let found: KeySumsRow[] = [];
    for (const app of await this.sums.sumByKey(scope, range, 'app', EVERY_APP)) {
      const last = found[limit - 1];
      if (last !== undefined && Number(app.requests) < Number(last.requests)) break;
      const rows = await this.users.sumByUser({ organizationId, id: app.key ?? '' }, range, limit, keptFrom);
      found = [...found, ...rows].sort(byRequests).slice(0, limit);
    }
    return found;
  }
}

/** Only `LASTING_DIMENSIONS` remain after the events are deleted. */
function completeFrom(by: AccountDimension, from: string, today: string): string {
  const kept = firstEventDay(today);
  return LASTING_DIMENSIONS.has(by) || from > kept ? from : kept;
}

function byRequests(one: KeySumsRow, other: KeySumsRow): number {
  return Number(other.requests) - Number(one.requests);
}

/** Times of successful calls. */
interface Times {
  readonly latency: Latency;
  readonly duration: Latency;
}

const NO_TIMES: Times = { latency: NO_LATENCY, duration: NO_LATENCY };

function timesOf(rows: readonly LatencyRow[]): ReadonlyMap<string, Times> {
  const classes = Map.groupBy(rows, ({ key }) => key);
  return new Map([...classes].map(([key, some]) => [key, { latency: latencyOf(some), duration: durationOf(some) }]));
}

function durationOf(rows: readonly LatencyRow[]): Latency {
  return latencyOf(rows.map(({ class: own, durations }) => ({ class: own, requests: durations })));
}

function requireOneDay({ from, to }: DayRange, firstDay: string): void {
  if (from !== to) throw invalidRequest('from', 'must be the day of `to`: hours are those of one day');
  if (to < firstDay) throw invalidRequest('to', `must not be before ${firstDay}: hours of earlier days are not kept`);
}
