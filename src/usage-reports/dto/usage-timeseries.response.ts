import { ApiProperty } from '@nestjs/swagger';
import type { UsageBucket, UsageTimeseries } from '../usage-reports.service.js';
import { UsageTotalsResponse } from './usage-totals.response.js';

export class UsageBucketResponse extends UsageTotalsResponse implements UsageBucket {
  @ApiProperty({
    type: 'string',
    format: 'date',
    description: 'UTC day. Months whose days are gone are one bucket, under their first day.',
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
