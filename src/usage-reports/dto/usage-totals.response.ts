import { ApiProperty } from '@nestjs/swagger';
import type { UsageTotals } from '../usage-totals.js';

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
    description:
      'US dollars beside `cost_usd` that calls of unknown usage are taken to have cost; counts against budgets.',
  })
  estimated_cost_usd: number;

  @Count('Requests that failed at the provider.')
  errors: number;

  @Count('Requests refused by a limit, a plan or a block.')
  blocked: number;
}
