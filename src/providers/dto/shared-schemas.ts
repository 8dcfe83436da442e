import { ApiExtraModels, ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import type { CustomPrice } from '../../pricing/custom-pricing.rules.js';

function Rate(description: string): PropertyDecorator {
  return ApiProperty({ type: 'number', minimum: 0, maximum: 1_000_000, required: false, description });
}

/** Schema of one custom price; `parseCustomPricing` validates it. */
class CustomPriceSchema implements CustomPrice {
  @Rate('US dollars per 1 000 000 input tokens. Required unless `per_minute` is the only price.')
  input?: number;

  @Rate('US dollars per 1 000 000 output tokens. Required unless `per_minute` is the only price.')
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
}

/** Adds the schema of {@link CUSTOM_PRICING} to the document. */
export const WithCustomPricing = (): ClassDecorator => ApiExtraModels(CustomPriceSchema);

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
