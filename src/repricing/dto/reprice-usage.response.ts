import { ApiProperty } from '@nestjs/swagger';
import { Dollars } from '../../common/http/openapi.decorators.js';
import type { UsageReprice } from '../usage-reprice.service.js';

export class RepriceUsageResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', description: 'Type of the provider.' })
  provider: string;

  @ApiProperty({ type: 'string' })
  model: string;

  @ApiProperty({ type: 'string', example: '2026-11', description: 'UTC month.' })
  month: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the new costs were written.' })
  applied: boolean;

  @ApiProperty({ type: 'integer', description: 'Events that can be repriced.' })
  matched_events: number;

  @ApiProperty({ type: 'integer', description: 'Those of them without any measure: they cost nothing.' })
  unmetered_events: number;

  @ApiProperty({ type: 'integer', description: 'Further events, whose measures have no price.' })
  unpriced_events: number;

  @Dollars('what the events without a price cost as recorded.')
  unpriced_cost_usd: number;

  @Dollars('what the events that can be repriced cost before.')
  previous_cost_usd: number;

  @Dollars('what they cost at the prices of their own days, as we know them now.')
  recalculated_cost_usd: number;

  @Dollars('the new cost less the one before.')
  delta_usd: number;

  static from(reprice: UsageReprice): RepriceUsageResponse {
    return Object.assign(new RepriceUsageResponse(), reprice);
  }
}
