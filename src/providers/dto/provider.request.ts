import { DisplayName, Int, JsonObject, OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { MAX_SECRET_CHARACTERS, MIN_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import { BASE_URL_MAX_LENGTH } from '../../upstreams/base-url.rules.js';
import { PROVIDER_SLUG, PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';
import type { ProviderStatus } from '../provider.entity.js';
import { CUSTOM_PRICING, GATEWAY_ROUTE, WithCustomPricing } from './shared-schemas.js';

/** An optional key of a provider. */
function ProviderKey(description: string): PropertyDecorator {
  return Verbatim({ min: MIN_SECRET_CHARACTERS, max: MAX_SECRET_CHARACTERS, optional: true, description });
}

@WithCustomPricing()
export class CreateProviderRequest {
  @OneOf(PROVIDER_TYPES, { description: 'Decides address, authentication, paths and prices. Cannot change later.' })
  type: ProviderType;

  @DisplayName({ max: 100, description: 'For people.' })
  name: string;

  @Text({
    max: 63,
    pattern: PROVIDER_SLUG,
    patternText: 'lower-case letters, digits and hyphens, at most 63, not starting with a hyphen',
    optional: true,
    description: 'Names the instance in paths and configurations, once per account; the type when absent.',
  })
  slug?: string;

  @ProviderKey('The provider’s key. Stored sealed, never returned. Exactly one of this and `providerGatewayId`.')
  secret?: string;

  @Text({ max: 100, optional: true, description: 'The upstream gateway that calls go through.' })
  providerGatewayId?: string;

  @JsonObject({
    optional: true,
    schema: GATEWAY_ROUTE,
    description: 'Options of the route through a gateway of type `vercel`.',
  })
  gatewayRoute?: object;

  @Verbatim({
    max: BASE_URL_MAX_LENGTH,
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

@WithCustomPricing()
export class UpdateProviderRequest {
  @DisplayName({ max: 100, optional: true, description: 'For people.' })
  name?: string;

  @ProviderKey('A new key; it replaces the old one. Not on an instance behind a gateway.')
  secret?: string;

  @JsonObject({
    optional: true,
    nullable: true,
    schema: GATEWAY_ROUTE,
    description: 'Replaces the options of the route through a gateway of type `vercel`; null removes them.',
  })
  gatewayRoute?: object | null;

  @Verbatim({
    max: BASE_URL_MAX_LENGTH,
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

export class TestProviderRequest {
  @OneOf(PROVIDER_TYPES, { description: 'The type whose cheap authenticated call is made.' })
  type: ProviderType;

  @ProviderKey('The key to test. Not stored. Exactly one of this and `providerGatewayId`.')
  secret?: string;

  @Text({ max: 100, optional: true, description: 'The upstream gateway to test through.' })
  providerGatewayId?: string;

  @Verbatim({
    max: BASE_URL_MAX_LENGTH,
    optional: true,
    description: 'The address the instance would use instead of the type’s own.',
  })
  baseUrl?: string;
}
