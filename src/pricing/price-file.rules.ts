import { invalidRequest } from '../common/errors/gateway-error.js';
import { objectOf, Required } from '../common/fields/config-fields.js';
import { refined, type Table, tableOf } from '../common/fields/config-values.js';
import { parseStrictJson } from '../common/http/strict-json.rules.js';
import { BUILT_IN_TYPES } from '../upstreams/provider-types.js';
import { ModelPriceResponse } from './dto/price-list.response.js';
import { isBillable } from './model-price.js';
import type { PriceCatalog } from './price-catalog.js';

/** Most members of one object that the JSON reader takes. */
const MAX_MODELS = 2_000;

const billablePrice = refined(objectOf(ModelPriceResponse), (price, path) => {
  if (!isBillable(price))
    throw invalidRequest(
      path,
      'needs per_minute, per_hour, per_image, per_request, per_1k_characters, or both input and output',
    );
  return price;
});

const section = tableOf({
  pattern: /^\S(?:.{0,198}\S)?$/,
  keyProblem: 'must be a model name of 1 to 200 characters',
  value: billablePrice,
  max: MAX_MODELS,
});

class PriceFileContent {
  @Required(
    tableOf({
      pattern: new RegExp(`^(?:${BUILT_IN_TYPES.join('|')})$`),
      keyProblem: 'is not a provider type',
      value: section,
    }),
  )
  readonly prices: Table<Table<ModelPriceResponse>>;
}

/**
 * Parses the price file, in the form of `GET /v1/admin/prices` or a part of it.
 *
 * @throws invalid_request naming the path of the first error, starting with `file`; unknown members are errors.
 * Source: docs/reference/accounting.md#price-file.
 */
export function parsePriceFile(bytes: Buffer): PriceCatalog {
  return objectOf(PriceFileContent)(parseStrictJson(bytes, 'file'), 'file').prices;
}
