import { Flag, JsonObject, JsonValue, OneOf, Verbatim } from '../../common/fields/fields.js';
import { Month } from '../../common/fields/list-fields.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { USAGE_STATUSES } from '../../usage/recording/usage-event.js';
import { parseSettledCost, parseSettleFilter } from '../settle-estimates.rules.js';
import type { SettleOrder } from '../settle-estimates.service.js';
import type { RepriceOrder } from '../usage-reprice.service.js';

export class RepriceUsageRequest {
  @OneOf(PROVIDER_TYPES, { description: 'Type of the provider that served.' })
  provider: ProviderType;

  @Verbatim({ max: 200, description: 'The canonical model.' })
  model: string;

  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.', optional: false })
  month: string;

  @Flag({ optional: true, description: 'Write the new costs; a preview when absent.' })
  apply?: boolean;

  toOrder(): RepriceOrder {
    const { provider, model, month, apply = false } = this;
    return { provider, model, month, apply };
  }
}

const EVENT_ID = {
  oneOf: [
    { type: 'integer', minimum: 1 },
    { type: 'string', pattern: '^[1-9][0-9]{0,15}$' },
  ],
};

export class SettleEstimatesRequest {
  @Month({ form: 'a month as YYYY-MM', description: 'UTC month.', optional: false })
  month: string;

  @Flag({ optional: true, description: 'Write the new costs; a preview when absent.' })
  apply?: boolean;

  @JsonValue({
    description:
      'What the estimate of each event becomes: zero, a cost of the same amount, or a cost in US dollars for each event.',
    schema: {
      oneOf: [
        { type: 'string', enum: ['zero', 'estimate'] },
        {
          type: 'object',
          required: ['usd'],
          additionalProperties: false,
          properties: { usd: { type: 'number', minimum: 0, maximum: 10_000 } },
        },
      ],
      example: 'zero',
    },
  })
  cost: unknown;

  @JsonObject({
    optional: true,
    description: 'Only events that match all of its members.',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        provider: { type: 'string', enum: PROVIDER_TYPES as unknown as string[], description: 'Type of the provider.' },
        model: { type: 'string', minLength: 1, maxLength: 200, description: 'The canonical model.' },
        status: { type: 'string', enum: [...USAGE_STATUSES] },
        event_ids: {
          type: 'array',
          minItems: 1,
          maxItems: 1_000,
          items: EVENT_ID,
          description: 'Ids as the list of events shows them.',
        },
      },
    },
  })
  filter?: unknown;

  toOrder(): SettleOrder {
    const { month, apply = false, cost, filter } = this;
    return { month, apply, cost: parseSettledCost(cost), filter: parseSettleFilter(filter) };
  }
}
