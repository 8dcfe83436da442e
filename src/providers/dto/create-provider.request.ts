import { JsonObject, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { MIN_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import { SLUG_PATTERN } from '../drafts/provider-write.rules.js';
import { CUSTOM_PRICING, WithCustomPricing } from './custom-pricing.schema.js';
import { GATEWAY_ROUTE } from './gateway-route.schema.js';

@WithCustomPricing()
export class CreateProviderRequest {
  @OneOf(PROVIDER_TYPES, { description: 'Decides address, authentication, paths and prices. Cannot change later.' })
  type: ProviderType;

  @Text({ max: 100, description: 'For people.' })
  name: string;

  @Text({
    max: 63,
    pattern: SLUG_PATTERN,
    patternText: 'lower-case letters, digits and hyphens, at most 63, not starting with a hyphen',
    optional: true,
    description: 'Names the instance in paths and configurations, once per account; the type when absent.',
  })
  slug?: string;

  @Verbatim({
    min: MIN_SECRET_CHARACTERS,
    max: 4096,
    optional: true,
    description: 'The provider’s key. Stored sealed, never answered. Exactly one of this and `providerGatewayId`.',
  })
  secret?: string;

  @Text({ max: 100, optional: true, description: 'The upstream gateway that calls go through.' })
  providerGatewayId?: string;

  @JsonObject({
    optional: true,
    schema: GATEWAY_ROUTE,
    description: 'Options of the way through a gateway of type `vercel`.',
  })
  gatewayRoute?: object;

  @Verbatim({
    max: 200,
    optional: true,
    description: 'An https origin and path instead of the type’s own. Not with `providerGatewayId`.',
  })
  baseUrl?: string;

  @JsonObject({
    optional: true,
    schema: CUSTOM_PRICING,
    description: 'Prices by model that replace the catalog’s, for this instance only.',
  })
  pricing?: object;
}
