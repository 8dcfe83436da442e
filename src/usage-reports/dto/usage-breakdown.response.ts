import { ApiProperty } from '@nestjs/swagger';
import { USAGE_DIMENSIONS, type UsageDimension } from '../../usage/usage-dimensions.js';
import type { UsageBreakdown, UsageShare } from '../usage-reports.service.js';
import { UsageTotalsResponse } from './usage-totals.response.js';

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

  @ApiProperty({ type: 'string', enum: [...USAGE_DIMENSIONS] })
  by: UsageDimension;

  @ApiProperty({ type: 'string', format: 'date', description: 'First UTC day.' })
  from: string;

  @ApiProperty({ type: 'string', format: 'date', description: 'Last UTC day, inclusive.' })
  to: string;

  @ApiProperty({
    type: 'string',
    format: 'date',
    description:
      'First UTC day that the rows are of: `from`, or a later day where this detail of earlier days is gone. It is later than `to` when all of it is gone.',
  })
  complete_from: string;

  @ApiProperty({ type: [UsageShareResponse], description: 'Most requests first, then by key.' })
  rows: readonly UsageShareResponse[];

  static from(breakdown: UsageBreakdown): UsageBreakdownResponse {
    return Object.assign(new UsageBreakdownResponse(), breakdown);
  }
}
