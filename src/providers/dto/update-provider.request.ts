import { Int, JsonObject, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { MIN_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import type { ProviderStatus } from '../provider-row.js';
import { CUSTOM_PRICING, WithCustomPricing } from './custom-pricing.schema.js';
import { GATEWAY_ROUTE } from './gateway-route.schema.js';

@WithCustomPricing()
export class UpdateProviderRequest {
  @Text({ max: 100, optional: true, description: 'For people.' })
  name?: string;

  @Verbatim({
    min: MIN_SECRET_CHARACTERS,
    max: 4096,
    optional: true,
    description: 'A new key; the old one is gone with it. Not on an instance behind a gateway.',
  })
  secret?: string;

  @JsonObject({
    optional: true,
    nullable: true,
    schema: GATEWAY_ROUTE,
    description: 'Replaces the options of the way through a gateway of type `vercel`; null removes them.',
  })
  gatewayRoute?: object | null;

  @Verbatim({
    max: 200,
    optional: true,
    nullable: true,
    description:
      'A new address, together with the key to send there; null returns to the type’s own. Not on an instance behind a gateway.',
  })
  baseUrl?: string | null;

  @JsonObject({
    optional: true,
    nullable: true,
    schema: CUSTOM_PRICING,
    description: 'Replaces all custom prices; null removes them.',
  })
  pricing?: object | null;

  @OneOf(['active', 'disabled'], {
    optional: true,
    description: '`disabled` pauses: calls answer `provider_disabled`; key, prices and slug stay.',
  })
  status?: ProviderStatus;

  @Int({ min: 1, optional: true, description: 'The revision you read. When sent, it must be the stored one.' })
  revision?: number;
}
