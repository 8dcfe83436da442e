import { OneOf, Text, Verbatim } from '../../common/fields/fields.js';
import { MIN_SECRET_CHARACTERS } from '../../common/fields/secret-text.rules.js';
import { PROVIDER_TYPES, type ProviderType } from '../../upstreams/provider-types.js';

export class TestProviderRequest {
  @OneOf(PROVIDER_TYPES, { description: 'The type whose cheap authenticated call is made.' })
  type: ProviderType;

  @Verbatim({
    min: MIN_SECRET_CHARACTERS,
    max: 4096,
    optional: true,
    description: 'The key to test. Not stored. Exactly one of this and `providerGatewayId`.',
  })
  secret?: string;

  @Text({ max: 100, optional: true, description: 'The upstream gateway to test through.' })
  providerGatewayId?: string;

  @Verbatim({ max: 200, optional: true, description: 'The address the instance would use instead of the type’s own.' })
  baseUrl?: string;
}
