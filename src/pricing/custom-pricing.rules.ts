import { invalidRequest } from '../common/errors/gateway-error.js';
import { memberPath } from '../common/fields/config-values.js';
import { MAX_MODEL_LENGTH } from '../upstreams/provider-types.js';
import { type CompiledPrice, compilePrice, type ModelPrice } from './model-price.js';

const PRICE_FIELDS = [
  'input',
  'output',
  'cached_input',
  'cache_write',
  'audio_input',
  'audio_output',
  'cached_audio_input',
  'per_minute',
] as const;

type CustomPriceField = (typeof PRICE_FIELDS)[number];

/** Custom price of one model on one provider instance, in US dollars as in `ModelPrice`. */
export type CustomPrice = Pick<ModelPrice, CustomPriceField>;

/** A higher rate would break exact arithmetic. */
const MAX_RATE_USD = 1_000_000;

/**
 * Parses the custom pricing of a provider write. `null` clears it. Model names are trimmed; the record has no
 * prototype.
 *
 * @param path prefix of error paths, as in `pricing.my-model.input`.
 * @throws invalid_request for anything but `{<model>: <price>}` with known members, each a number from 0 to 1 000 000;
 *   `input` and `output` may be absent only together, when `per_minute` is the only price.
 * Source: docs/reference/management-api.md#custom-prices.
 */
export function parseCustomPricing(raw: unknown, path = 'pricing'): Record<string, CustomPrice> | null {
  if (raw === null) return null;
  const pricing: Record<string, CustomPrice> = Object.create(null);
  for (const [key, value] of Object.entries(requireObject(raw, path))) {
    const model = parseModelName(key, path);
    if (Object.hasOwn(pricing, model)) throw invalidRequest(memberPath(path, model), 'is given twice');
    pricing[model] = parseCustomPrice(value, memberPath(path, model));
  }
  return pricing;
}

/**
 * Compiles stored custom pricing for `PriceBook.find`. A map, because a model may be named `constructor`.
 *
 * @throws RangeError for a rate that `parseCustomPricing` would reject.
 */
export function toCustomPriceMap(
  stored: Readonly<Record<string, CustomPrice>> | null,
): ReadonlyMap<string, CompiledPrice> {
  return new Map(Object.entries(stored ?? {}).map(([model, price]) => [model, compilePrice(price)]));
}

function parseModelName(key: string, path: string): string {
  const model = key.trim();
  if (model.length < 1 || model.length > MAX_MODEL_LENGTH) {
    throw invalidRequest(path, `a model name must have 1 to ${MAX_MODEL_LENGTH} characters`);
  }
  // PostgreSQL cannot store lone surrogates or NUL.
  if (!model.isWellFormed() || model.includes('\0')) throw invalidRequest(path, 'a model name must be plain text');
  if (model === '__proto__') throw invalidRequest(path, '__proto__ is not a model name');
  return model;
}

function parseCustomPrice(raw: unknown, path: string): CustomPrice {
  const price: { -readonly [Field in CustomPriceField]?: number } = {};
  for (const [field, value] of Object.entries(requireObject(raw, path))) {
    if (!isPriceField(field)) throw invalidRequest(memberPath(path, field), 'is not a known member');
    price[field] = parseRate(value, `${path}.${field}`);
  }
  if (price.per_minute !== undefined && Object.keys(price).length === 1) return price;
  for (const field of ['input', 'output'] as const) {
    if (price[field] === undefined) throw invalidRequest(`${path}.${field}`, 'is required');
  }
  return price;
}

function parseRate(raw: unknown, path: string): number {
  if (typeof raw !== 'number' || !Number.isFinite(raw) || raw < 0) {
    throw invalidRequest(path, 'must be a number of at least 0');
  }
  if (raw > MAX_RATE_USD) throw invalidRequest(path, `must be at most ${MAX_RATE_USD}`);
  return raw;
}

function requireObject(raw: unknown, path: string): object {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw invalidRequest(path, 'must be an object');
  return raw;
}

function isPriceField(field: string): field is CustomPriceField {
  return PRICE_FIELDS.some((known) => known === field);
}
