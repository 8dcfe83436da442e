import { ApiProperty } from '@nestjs/swagger';
import { type AppDimension, DEFAULT_DIMENSION } from '../../recording/usage-columns.js';
import type {
  AppMonthUsage,
  UsageBreakdown,
  UsageBucket,
  UsageShare,
  UsageTimeseries,
} from '../usage-reports.service.js';
import type { UsageTotals } from '../usage-totals.rules.js';

function Count(description: string): PropertyDecorator {
  return ApiProperty({ type: 'integer', minimum: 0, description });
}

export class UsageTotalsResponse implements UsageTotals {
  @Count('Every recorded request, refused ones included.')
  requests: number;

  @Count('Prompt tokens neither read from nor written to a cache.')
  input_tokens: number;

  @Count('Prompt tokens read from a cache.')
  cached_input_tokens: number;

  @Count('Prompt tokens written to a cache.')
  cache_write_tokens: number;

  @Count('Generated tokens, reasoning included.')
  output_tokens: number;

  @ApiProperty({ type: 'number', minimum: 0, description: 'US dollars.' })
  cost_usd: number;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description: 'Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets.',
  })
  estimated_cost_usd: number;

  @Count('Requests that failed at the provider.')
  errors: number;

  @Count('Refused requests: by a limit, a plan, a block or the configuration, or because they were not valid.')
  blocked: number;
}

export class UsageBucketResponse extends UsageTotalsResponse implements UsageBucket {
  @ApiProperty({
    type: 'string',
    format: 'date',
    description: 'UTC day. Folded months are one bucket, under their first day.',
  })
  date: string;

  @ApiProperty({ type: 'string', description: 'Type of the provider.' })
  provider: string;
}

export class UsageTimeseriesResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, inclusive.' })
  to: string;

  @ApiProperty({
    type: [UsageBucketResponse],
    description: 'By date, then by provider; days without usage are absent.',
  })
  buckets: readonly UsageBucketResponse[];

  static from(series: UsageTimeseries): UsageTimeseriesResponse {
    return Object.assign(new UsageTimeseriesResponse(), series);
  }
}

export class UsageShareResponse extends UsageTotalsResponse implements UsageShare {
  @ApiProperty({
    type: 'string',
    nullable: true,
    description: 'Null: requests without one.',
  })
  key: string | null;
}

export class UsageBreakdownResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', description: 'As asked.', example: DEFAULT_DIMENSION })
  by: AppDimension;

  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, inclusive.' })
  to: string;

  @ApiProperty({
    type: 'string',
    format: 'date',
    description:
      'First UTC day of the rows: `from`, or a later day if this detail of earlier days is deleted. Later than `to` if all of it is deleted.',
  })
  complete_from: string;

  @ApiProperty({ type: [UsageShareResponse], description: 'Most requests first, then by key.' })
  rows: readonly UsageShareResponse[];

  static from(breakdown: UsageBreakdown): UsageBreakdownResponse {
    return Object.assign(new UsageBreakdownResponse(), breakdown);
  }
}

export class MonthUsageResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', example: '2026-11', description: 'UTC month.' })
  month: string;

  @ApiProperty({ type: 'integer', description: 'Every recorded request, refused ones included.' })
  requests: number;

  @ApiProperty({ type: 'integer', description: 'Prompt tokens neither read from nor written to a cache.' })
  input_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Prompt tokens read from a cache.' })
  cached_input_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Prompt tokens written to a cache.' })
  cache_write_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Generated tokens, reasoning included.' })
  output_tokens: number;

  @ApiProperty({ type: 'number', description: 'US dollars.' })
  cost_usd: number;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description: 'Estimate in US dollars in addition to `cost_usd` for calls of unknown usage; counts against budgets.',
  })
  estimated_cost_usd: number;

  static from(usage: AppMonthUsage): MonthUsageResponse {
    return Object.assign(new MonthUsageResponse(), usage);
  }
}
