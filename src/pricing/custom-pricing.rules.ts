import { invalidRequest } from '../common/errors/gateway-error.js';
import { memberPath } from '../common/fields/config-values.js';
import { MAX_MODEL_LENGTH } from '../upstreams/provider-types.js';
import {
  type CompiledPrice,
  compilePrice,
  type ModelPrice,
  type ModelRates,
  PRICED_TIERS,
  type PricedTier,
} from './model-price.js';

const PRICE_FIELDS = [
  'input',
  'output',
  'cached_input',
  'cache_write',
  'audio_input',
  'audio_output',
  'cached_audio_input',
  'per_minute',
  'per_image',
  'per_request',
  'per_1k_characters',
  'per_1k_web_searches',
] as const;

/** Rates that are a price without any other. */
const PRICES_ALONE: ReadonlySet<string> = new Set(['per_minute', 'per_image', 'per_request', 'per_1k_characters']);
const TIERS = 'tiers';

type CustomPriceField = (typeof PRICE_FIELDS)[number];

/** Rates of one model, or of one of its service tiers. */
export type CustomRates = Pick<ModelRates, CustomPriceField>;

/** Custom price of one model on one provider instance, in US dollars as in `ModelPrice`. */
export type CustomPrice = CustomRates & Pick<ModelPrice, typeof TIERS>;

/** A higher rate would break exact arithmetic. */
const MAX_RATE_USD = 1_000_000;

/**
 * Parses the custom pricing of a provider write. `null` clears it. Model names are trimmed; the record has no
 * prototype.
 *
 * @param path prefix of error paths, as in `pricing.my-model.input`.
 * @throws invalid_request for anything but `{<model>: <price>}` with known members, each a number from 0 to 1 000 000;
 *   `input` and `output` may be absent only together, where every rate is one of time, images, requests or characters.
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
  const { [TIERS]: sentTiers, ...sentRates } = requireObject(raw, path);
  const price = parseRates(sentRates, path);
  const names = Object.keys(price);
  if (names.length === 0 || !names.every((name) => PRICES_ALONE.has(name))) {
    for (const field of ['input', 'output'] as const) {
      if (price[field] === undefined) throw invalidRequest(`${path}.${field}`, 'is required');
    }
  }
  return sentTiers === undefined ? price : { ...price, tiers: parseTiers(sentTiers, `${path}.${TIERS}`) };
}

function parseTiers(raw: unknown, path: string): NonNullable<CustomPrice['tiers']> {
  const tiers: Partial<Record<PricedTier, CustomRates>> = {};
  for (const [name, value] of Object.entries(requireObject(raw, path))) {
    const tier = PRICED_TIERS.find((known) => known === name);
    if (tier === undefined) throw invalidRequest(memberPath(path, name), `must be ${PRICED_TIERS.join(', ')}`);
    tiers[tier] = parseRates(requireObject(value, `${path}.${tier}`), `${path}.${tier}`);
  }
  return tiers;
}

function parseRates(raw: object, path: string): CustomRates {
  const rates: { -readonly [Field in CustomPriceField]?: number } = {};
  for (const [field, value] of Object.entries(raw)) {
    if (!isPriceField(field)) throw invalidRequest(memberPath(path, field), 'is not a known member');
    rates[field] = parseRate(value, `${path}.${field}`);
  }
  return rates;
}

function parseRate(raw: unknown, path: string): number {
  if (typeof raw !== 'number' || !Number.isFinite(raw) || raw < 0) {
    throw invalidRequest(path, 'must be a number of at least 0');
  }
  if (raw > MAX_RATE_USD) throw invalidRequest(path, `must be at most ${MAX_RATE_USD}`);
  return raw;
}

function requireObject(raw: unknown, path: string): { readonly [name: string]: unknown } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw invalidRequest(path, 'must be an object');
  return { ...raw };
}

function isPriceField(field: string): field is CustomPriceField {
  return PRICE_FIELDS.some((known) => known === field);
}
