import { ApiProperty } from '@nestjs/swagger';
import {
  type AccountDimension,
  DEFAULT_DIMENSION,
  SERIES_DIMENSIONS,
  type SeriesDimension,
} from '../../recording/usage-columns.js';
import {
  type AccountBreakdown,
  type AccountShare,
  type LatencyBucket,
  SERIES_UNITS,
  type SeriesBucket,
  type SeriesUnit,
  type UsagePeriod,
  type UsageSeries,
  type UsageSummary,
} from '../account-usage.service.js';
import type { Latency } from '../usage-period.rules.js';
import { UsageShareResponse, UsageTotalsResponse } from './usage-reports.response.js';

function FirstDay(): PropertyDecorator {
  return ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' });
}

function LastDay(): PropertyDecorator {
  return ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, inclusive.' });
}

function AskedApp(): PropertyDecorator {
  return ApiProperty({ type: 'string', nullable: true, description: 'The asked application; null: the account.' });
}

function Percentile(description: string): PropertyDecorator {
  return ApiProperty({ type: 'integer', minimum: 1, nullable: true, description });
}

export class LatencyResponse implements Latency {
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Successful calls with a known time.' })
  calls: number;

  @Percentile('Milliseconds, median, within 5 %; null without calls.')
  p50_ms: number | null;

  @Percentile('The 95th percentile, likewise.')
  p95_ms: number | null;
}

export class UsagePeriodResponse extends UsageTotalsResponse implements UsagePeriod {
  @FirstDay()
  from: string;

  @LastDay()
  to: string;

  @ApiProperty({ type: LatencyResponse, description: 'Time to the first byte of the answer.' })
  latency: LatencyResponse;

  @ApiProperty({ type: LatencyResponse, description: 'Time to the last byte of complete answers.' })
  duration: LatencyResponse;
}

export class AccountUsageResponse extends UsagePeriodResponse implements UsageSummary {
  @AskedApp()
  app_id: string | null;

  @ApiProperty({
    type: 'string',
    format: 'date',
    description:
      'First UTC day of `latency` and `duration`: `from`, or a later day if latencies of earlier days are deleted.',
  })
  latency_from: string;

  @ApiProperty({ type: UsagePeriodResponse, description: 'The period before.' })
  previous: UsagePeriodResponse;

  static from(summary: UsageSummary): AccountUsageResponse {
    return Object.assign(new AccountUsageResponse(), summary);
  }
}

export class SeriesBucketResponse extends UsageTotalsResponse implements SeriesBucket {
  @ApiProperty({
    type: 'string',
    description: 'UTC day, or the start of an hour. Folded months are one bucket, under their first day.',
  })
  start: string;

  @ApiProperty({ type: 'string', description: 'A value of the dimension.' })
  key: string;
}

export class LatencyBucketResponse extends LatencyResponse implements LatencyBucket {
  @ApiProperty({ type: 'string', description: 'UTC day, or the start of an hour.' })
  start: string;
}

export class AccountTimeseriesResponse implements UsageSeries {
  @AskedApp()
  app_id: string | null;

  @FirstDay()
  from: string;

  @LastDay()
  to: string;

  @ApiProperty({ type: 'string', enum: [...SERIES_UNITS] })
  unit: SeriesUnit;

  @ApiProperty({ type: 'string', enum: [...SERIES_DIMENSIONS] })
  by: SeriesDimension;

  @ApiProperty({
    type: [SeriesBucketResponse],
    description: 'By start, then by key; days and hours without usage are absent.',
  })
  buckets: readonly SeriesBucketResponse[];

  @ApiProperty({ type: [LatencyBucketResponse], description: 'By start; of the last 90 days.' })
  latencies: readonly LatencyBucketResponse[];

  static from(series: UsageSeries): AccountTimeseriesResponse {
    return Object.assign(new AccountTimeseriesResponse(), series);
  }
}

export class AccountShareResponse extends UsageShareResponse implements AccountShare {
  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'The application of the user, the endpoint or the application key; null for other dimensions.',
  })
  app_id: string | null;

  @ApiProperty({
    type: LatencyResponse,
    nullable: true,
    description: 'Time to the first byte, by `app`, `model` and `provider`, of the last 90 days; null for others.',
  })
  latency: LatencyResponse | null;

  @ApiProperty({
    type: LatencyResponse,
    nullable: true,
    description: 'Time to the last byte of complete answers, likewise.',
  })
  duration: LatencyResponse | null;
}

export class AccountBreakdownResponse implements AccountBreakdown {
  @AskedApp()
  app_id: string | null;

  @ApiProperty({ type: 'string', description: 'As asked.', example: DEFAULT_DIMENSION })
  by: AccountDimension;

  @FirstDay()
  from: string;

  @LastDay()
  to: string;

  @ApiProperty({
    type: 'string',
    format: 'date',
    description:
      'First UTC day of the rows: `from`, or a later day if this detail of earlier days is deleted. Later than `to` if all of it is deleted.',
  })
  complete_from: string;

  @ApiProperty({
    type: UsageTotalsResponse,
    description: 'Usage from `complete_from` to `to`: the total to which shares of rows refer.',
  })
  total: UsageTotalsResponse;

  @ApiProperty({ type: [AccountShareResponse], description: 'Most requests first, then by key.' })
  rows: readonly AccountShareResponse[];

  static from(breakdown: AccountBreakdown): AccountBreakdownResponse {
    return Object.assign(new AccountBreakdownResponse(), breakdown);
  }
}
