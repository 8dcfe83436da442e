import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Optional, objectOf } from '../../common/fields/config-fields.js';
import { described, integer, number, text } from '../../common/fields/config-values.js';
import { HIGHEST_RATE_USD, type ModelPrice, type ModelRates } from '../model-price.js';
import type { PriceCatalog } from '../price-catalog.js';

const rate = described(
  { type: 'number', minimum: 0, maximum: HIGHEST_RATE_USD },
  number({ min: 0, max: HIGHEST_RATE_USD }),
);
const flag = described({ type: 'boolean' }, (value: unknown, path: string): boolean => {
  if (typeof value !== 'boolean') throw invalidRequest(path, 'must be true or false');
  return value;
});
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const day = described(
  { type: 'string', format: 'date', pattern: DAY.source },
  text({ pattern: DAY, problem: 'must be a day such as 2027-01-31' }),
);

/** A rate in US dollars; absent where the model has no such rate. */
function Rate(description: string) {
  return Optional(rate, { description });
}

/** Rates of a model, or of one of its service tiers. */
export class ModelRatesResponse implements ModelRates {
  @Rate('Input, per 1 000 000 tokens.')
  input?: number;

  @Rate('Output, per 1 000 000 tokens.')
  output?: number;

  @Rate('Input read from the provider’s cache, per 1 000 000 tokens.')
  cached_input?: number;

  @Rate('Input written to the provider’s cache, per 1 000 000 tokens.')
  cache_write?: number;

  @Rate('Audio input, per 1 000 000 tokens.')
  audio_input?: number;

  @Rate('Audio output, per 1 000 000 tokens.')
  audio_output?: number;

  @Rate('Audio input read from the provider’s cache, per 1 000 000 tokens.')
  cached_audio_input?: number;

  @Rate('Image input, per 1 000 000 tokens.')
  image_input?: number;

  @Rate('Image output, per 1 000 000 tokens.')
  image_output?: number;

  @Rate('Video input, per 1 000 000 tokens.')
  video_input?: number;

  @Rate('Image input read from the provider’s cache, per 1 000 000 tokens.')
  cached_image_input?: number;

  @Rate('Input written to a cache that keeps it for an hour, per 1 000 000 tokens.')
  cache_write_1h?: number;

  @Rate(
    'Output that the answer counts as text, per 1 000 000 tokens, of a model with more expensive kinds of output; `output` is the rate of output without a kind.',
  )
  text_output?: number;

  @Rate('Video output, per 1 000 000 tokens.')
  video_output?: number;

  @Rate('Reasoning that is counted in addition to the output, per 1 000 000 tokens.')
  reasoning_output?: number;

  @Rate('Citations, which are counted in addition to the output, per 1 000 000 tokens.')
  citation_output?: number;

  @Rate('Web searches that the provider made, per 1 000.')
  per_1k_web_searches?: number;

  @Rate('Searches in files that the provider made, per 1 000.')
  per_1k_file_searches?: number;

  @Rate('Every request, its search included, per 1 000.')
  per_1k_requests?: number;

  @Rate('The same where the answer says that its search brought in little context.')
  per_1k_requests_low_context?: number;

  @Rate('The same where the answer says that its search brought in a medium amount of context.')
  per_1k_requests_medium_context?: number;

  @Rate('Per minute of audio.')
  per_minute?: number;

  @Rate('Per hour of audio.')
  per_hour?: number;

  @Rate('Each image that the request asks for.')
  per_image?: number;

  @Rate('Each request, whatever it uses.')
  per_request?: number;

  @Rate('Characters of the text of the request, per 1 000.')
  per_1k_characters?: number;

  @Optional(integer({ min: 0 }), {
    description: 'Prompt tokens; a request above it is billed entirely at the `long_*` rates.',
  })
  long_context_threshold?: number;

  @Rate('Input of a long prompt, per 1 000 000 tokens.')
  long_input?: number;

  @Rate('Output after a long prompt, per 1 000 000 tokens.')
  long_output?: number;

  @Rate('Cached input of a long prompt, per 1 000 000 tokens.')
  long_cached_input?: number;

  @Rate('Cache writes of a long prompt, per 1 000 000 tokens.')
  long_cache_write?: number;

  @Rate('Hour-long cache writes of a long prompt, per 1 000 000 tokens.')
  long_cache_write_1h?: number;
}

const tierRates = objectOf(ModelRatesResponse);

/** Rates of service tiers. */
export class PriceTiersResponse implements NonNullable<ModelPrice['tiers']> {
  @Optional(tierRates, { description: 'Rates of the tier `flex`.' })
  flex?: ModelRatesResponse;

  @Optional(tierRates, { description: 'Rates of the tier `priority`.' })
  priority?: ModelRatesResponse;

  @Optional(tierRates, { description: 'Rates of the tier `batch`.' })
  batch?: ModelRatesResponse;
}

/** A price of the list and of `PRICES_FILE`. */
export class ModelPriceResponse extends ModelRatesResponse implements ModelPrice {
  @Optional(objectOf(PriceTiersResponse), {
    description: 'Rates of service tiers; a rate that a tier does not have is that of the model.',
  })
  tiers?: PriceTiersResponse;

  @Optional(text({ max: 100 }), { description: 'The author of a model that another company hosts.' })
  author?: string;

  @Optional(flag, { description: 'Whether its provider no longer recommends the model. For information only.' })
  deprecated?: boolean;

  @Optional(day, { description: 'Announced end of the model. For information only.' })
  retirement_date?: string;
}

@ApiExtraModels(ModelPriceResponse)
export class PriceListResponse {
  @ApiProperty({
    type: 'object',
    description: 'Provider type, then model. A type without a section has no catalog prices.',
    additionalProperties: {
      type: 'object',
      additionalProperties: { $ref: getSchemaPath(ModelPriceResponse) },
    },
  })
  prices: PriceCatalog;

  static from(catalog: PriceCatalog): PriceListResponse {
    return Object.assign(new PriceListResponse(), { prices: catalog });
  }
}
