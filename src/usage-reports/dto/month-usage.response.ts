import { ApiProperty } from '@nestjs/swagger';
import type { AppMonthUsage } from '../usage.service.js';

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
    description:
      'US dollars beside `cost_usd` that calls of unknown usage are taken to have cost; counts against budgets.',
  })
  estimated_cost_usd: number;

  static from(usage: AppMonthUsage): MonthUsageResponse {
    return Object.assign(new MonthUsageResponse(), usage);
  }
}
