import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  getSchemaPath,
} from '@nestjs/swagger';
import type { CustomPrice, CustomRates } from '../../pricing/custom-pricing.rules.js';
import { PRICED_TIERS } from '../../pricing/model-price.js';

function Rate(description: string): PropertyDecorator {
  return ApiProperty({ type: 'number', minimum: 0, maximum: 1_000_000, required: false, description });
}

const NEEDED = 'Required unless every rate is per minute, image, request or character.';

/** Schema of the rates of a model or of one of its service tiers; `parseCustomPricing` validates them. */
class CustomRatesSchema implements CustomRates {
  @Rate(`US dollars per 1 000 000 input tokens. ${NEEDED}`)
  input?: number;

  @Rate(`US dollars per 1 000 000 output tokens. ${NEEDED}`)
  output?: number;

  @Rate('US dollars per 1 000 000 input tokens read from the provider’s cache; `input` when absent.')
  cached_input?: number;

  @Rate('US dollars per 1 000 000 input tokens written to the provider’s cache; `input` when absent.')
  cache_write?: number;

  @Rate('US dollars per 1 000 000 audio input tokens; `input` when absent.')
  audio_input?: number;

  @Rate('US dollars per 1 000 000 audio output tokens; `output` when absent.')
  audio_output?: number;

  @Rate('US dollars per 1 000 000 cached audio input tokens; `cached_input` when absent.')
  cached_audio_input?: number;

  @Rate('US dollars per minute of audio.')
  per_minute?: number;

  @Rate('US dollars for each image that a request of an image path asks for.')
  per_image?: number;

  @Rate('US dollars for every request, besides all other rates.')
  per_request?: number;

  @Rate('US dollars per 1 000 characters of the `input` text of a request.')
  per_1k_characters?: number;

  @Rate('US dollars per 1 000 web searches that the provider makes.')
  per_1k_web_searches?: number;
}

const TIER = { allOf: [{ $ref: getSchemaPath(CustomRatesSchema) }] };

/** Schema of one custom price; `parseCustomPricing` validates it. */
class CustomPriceSchema extends CustomRatesSchema implements CustomPrice {
  @ApiPropertyOptional({
    type: 'object',
    properties: Object.fromEntries(PRICED_TIERS.map((tier) => [tier, TIER])),
    additionalProperties: false,
    description:
      'Rates of service tiers, applied where the answer names the tier. A missing rate is that of the model.',
  })
  tiers?: NonNullable<CustomPrice['tiers']>;
}

/** Adds the schema of {@link CUSTOM_PRICING} to the document. */
export const WithCustomPricing = (): ClassDecorator => ApiExtraModels(CustomPriceSchema, CustomRatesSchema);

/** Custom prices by model, in requests and responses. */
export const CUSTOM_PRICING = {
  type: 'object',
  additionalProperties: { $ref: getSchemaPath(CustomPriceSchema) },
} as const satisfies ApiPropertyOptions;

/**
 * Gateway options in requests and responses; `parseGatewayRoute` validates them.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export const GATEWAY_ROUTE = {
  type: 'object',
  properties: {
    modelPrefix: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      pattern: '/$',
      description: 'Precedes model names instead of the type’s namespace. Ends with a slash.',
    },
    providerOnly: {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: 100 },
      minItems: 1,
      maxItems: 20,
      description: 'The only providers that may serve the calls.',
    },
  },
  additionalProperties: false,
} satisfies ApiPropertyOptions;
