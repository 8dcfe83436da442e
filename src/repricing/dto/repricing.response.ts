import { ApiProperty } from '@nestjs/swagger';
import { Dollars } from '../../common/http/openapi.decorators.js';
import { USAGE_STATUSES, type UsageStatus } from '../../usage/recording/usage-event.js';
import type { SettledEvent } from '../settle-estimates.rules.js';
import type { SettledEstimates } from '../settle-estimates.service.js';
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

  @ApiProperty({ type: 'integer', description: 'Those without any measure: they cost 0.' })
  unmetered_events: number;

  @ApiProperty({ type: 'integer', description: 'Other events, whose measures have no price.' })
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

export class SettledEventResponse {
  @ApiProperty({ type: 'integer', description: 'As the list of events shows it.' })
  id: number;

  @ApiProperty({ type: 'string', format: 'date-time' })
  created_at: string;

  @ApiProperty({ type: 'string', description: 'Type of the provider.' })
  provider: string;

  @ApiProperty({ type: 'string' })
  model: string;

  @ApiProperty({ type: 'string', enum: [...USAGE_STATUSES] })
  status: UsageStatus;

  @Dollars('its cost before.')
  previous_cost_usd: number;

  @Dollars('its estimate before.')
  previous_estimated_cost_usd: number;

  @Dollars('its cost after.')
  cost_usd: number;

  @Dollars('its estimate after.')
  estimated_cost_usd: number;

  static from(event: SettledEvent): SettledEventResponse {
    return Object.assign(new SettledEventResponse(), event);
  }
}

export class SettleEstimatesResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'string', example: '2026-11', description: 'UTC month.' })
  month: string;

  @ApiProperty({ type: 'boolean', description: 'Whether the new costs were written.' })
  applied: boolean;

  @ApiProperty({ type: 'integer', description: 'Events with an estimate that were included.' })
  matched_events: number;

  @ApiProperty({ type: 'boolean', description: 'More events match: repeat the request.' })
  has_more: boolean;

  @Dollars('what those events cost before.')
  previous_cost_usd: number;

  @Dollars('what they were estimated at beside that.')
  previous_estimated_cost_usd: number;

  @Dollars('what they cost after.')
  settled_cost_usd: number;

  @Dollars('what they are estimated at after.')
  settled_estimated_cost_usd: number;

  @Dollars('what they count against budgets after, less what they did before.')
  delta_usd: number;

  @ApiProperty({ type: [SettledEventResponse], description: 'The first of them, at most 20.' })
  sample: SettledEventResponse[];

  static from({ sample, ...settled }: SettledEstimates): SettleEstimatesResponse {
    return Object.assign(new SettleEstimatesResponse(), {
      ...settled,
      sample: sample.map(SettledEventResponse.from),
    });
  }
}
