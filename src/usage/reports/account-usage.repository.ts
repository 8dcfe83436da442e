import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { DayRange } from '../../common/day-range.rules.js';
import { startOfDay } from '../../platform/database/utc-sql.js';
import {
  type AccountDimension,
  ESTIMATE_OF_EVENT,
  MEASURES,
  type SeriesDimension,
  timeClass,
} from '../recording/usage-columns.js';
import {
  type DaySumsRow,
  IN_SCOPE,
  ON_DAYS,
  onDays,
  readBounded,
  TOTALS,
  type UsageScope,
} from '../recording/usage-sums.repository.js';

/** Calls of one class of times, of one key of a dimension or of one time. */
export interface LatencyRow {
  readonly key: string;
  readonly class: number;
  /** Those whose first byte came in it. */
  readonly requests: number;
  /** Those whose last byte came in it. */
  readonly durations: number;
}

/** Columns of events and of latencies. */
const COLUMNS: Readonly<Record<SeriesDimension, string>> = {
  provider: 'provider_type',
  model: 'model',
  app: 'app_id',
  status: 'status',
};

const HOUR = `to_char(date_trunc('hour', kept.created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:00:00"Z"')`;

const ON_DAY = `${IN_SCOPE} AND kept.created_at >= ${startOfDay(3)} AND kept.created_at < ${startOfDay(3)} + interval '1 day'`;

const SUMMED = MEASURES.map((name) => (name === 'estimated_nano_usd' ? `${ESTIMATE_OF_EVENT} AS ${name}` : name));

/** Events of one day, by the index of the account. */
const byHour = (column: string) => `
  SELECT used.date, used.key, ${TOTALS} FROM (
    SELECT ${HOUR} AS date, kept.${column} AS key, status, requests, ${SUMMED.join(', ')}
    FROM usage_events kept WHERE ${ON_DAY}) used
  GROUP BY used.date, used.key ORDER BY used.date, used.key COLLATE "C"`;

const LATENCIES_BY_HOUR = `
  SELECT ${HOUR} AS key, ${timeClass('latency_ms')} AS class, count(*)::integer AS requests, 0 AS durations
  FROM usage_events kept WHERE ${ON_DAY} AND status = 'ok' AND latency_ms IS NOT NULL GROUP BY 1, 2`;

const latenciesBy = (key: string, where = '') => `
  SELECT ${key} AS key, kept.class, sum(kept.requests)::float8 AS requests,
    sum(kept.durations)::float8 AS durations
  FROM usage_latencies kept WHERE ${ON_DAYS} ${where} GROUP BY 1, 2`;

/** Reads usage by hour and latencies, of a whole account or of one application. */
@Injectable()
export class AccountUsageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** By hour, an instant, then by key. @param day UTC, `YYYY-MM-DD`; its events must be kept. */
  sumByHour({ organizationId, id }: UsageScope, day: string, by: SeriesDimension): Promise<DaySumsRow[]> {
    return readBounded(this.dataSource, byHour(COLUMNS[by]), [organizationId, id, day]);
  }

  /** By hour, an instant. @param day UTC, `YYYY-MM-DD`; its events must be kept. */
  latenciesByHour({ organizationId, id }: UsageScope, day: string): Promise<LatencyRow[]> {
    return readBounded(this.dataSource, LATENCIES_BY_HOUR, [organizationId, id, day]);
  }

  /** Of the whole range, under an empty key. */
  latencies(scope: UsageScope, range: DayRange): Promise<LatencyRow[]> {
    return readBounded(this.dataSource, latenciesBy("''"), onDays(scope, range));
  }

  /** By UTC day, `YYYY-MM-DD`. */
  latenciesByDay(scope: UsageScope, range: DayRange): Promise<LatencyRow[]> {
    return readBounded(this.dataSource, latenciesBy("to_char(kept.day, 'YYYY-MM-DD')"), onDays(scope, range));
  }

  /** Of some keys of a dimension. */
  latenciesByKey(
    scope: UsageScope,
    range: DayRange,
    by: Exclude<SeriesDimension, 'status'>,
    keys: readonly (string | null)[],
  ): Promise<LatencyRow[]> {
    const column = `kept.${COLUMNS[by]}`;
    const sql = latenciesBy(column, `AND ${column} = ANY ($5::text[])`);
    return readBounded(this.dataSource, sql, [...onDays(scope, range), keys]);
  }
}

/** Whether latencies are kept by a dimension. */
export function hasLatency(by: AccountDimension): by is Exclude<SeriesDimension, 'status'> {
  return by === 'provider' || by === 'model' || by === 'app';
}
