import type { ModelPrice as LibraryPrice, ModelInfo } from '@pydantic/genai-prices';
import type { ModelPrice } from './model-price.js';

type LibraryRate = LibraryPrice[string];

/** Rates per 1 000 000 tokens that also have a long-context rate: member, long-context member, library name. */
const TIERED_RATES = [
  ['input', 'long_input', 'input_mtok'],
  ['cached_input', 'long_cached_input', 'cache_read_mtok'],
  ['cache_write', 'long_cache_write', 'cache_write_mtok'],
  ['cache_write_1h', 'long_cache_write_1h', 'cache_write_1h_mtok'],
] as const;

const FLAT_RATES = [
  ['audio_input', 'input_audio_mtok'],
  ['cached_audio_input', 'cache_audio_read_mtok'],
  ['audio_output', 'output_audio_mtok'],
  ['image_input', 'input_image_mtok'],
  ['image_output', 'output_image_mtok'],
  ['video_input', 'input_video_mtok'],
  ['cached_image_input', 'cache_image_read_mtok'],
  ['video_output', 'output_video_mtok'],
  ['reasoning_output', 'output_reasoning_mtok'],
  ['citation_output', 'output_citation_mtok'],
  ['per_1k_web_searches', 'web_searches_kcount'],
  ['per_1k_file_searches', 'storage_searches_kcount'],
  ['per_1k_requests', 'requests_kcount'],
] as const;

/** Kinds of output that a usage report may count as text. */
const UNSEEN_OUTPUT_RATES = ['output_image_mtok', 'output_video_mtok', 'output_reasoning_mtok', 'output_citation_mtok'];

type Draft = { -readonly [Member in keyof ModelPrice]: ModelPrice[Member] };

/**
 * Converts a model of the price library. Where the price depends on facts that usage does not report (hour of the day,
 * which output tokens are an image), the highest rate applies. Several context tiers become one: the lowest threshold
 * with the highest rate. The result may have no billable rate; see `isBillable`.
 *
 * @param utcDay `YYYY-MM-DD`; selects the dated prices in force.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export function toModelPrice(model: ModelInfo, utcDay: string): ModelPrice {
  const rates = ratesInForce(model, utcDay);
  const price: Draft = {};
  for (const [normal, long, libraryName] of TIERED_RATES) {
    const rate = rates[libraryName];
    if (rate === undefined) continue;
    price[normal] = baseOf(rate);
    if (typeof rate === 'object') price[long] = highestRatesOf(rate);
  }
  for (const [member, libraryName] of FLAT_RATES) {
    const rate = rates[libraryName];
    if (rate !== undefined) price[member] = highestRatesOf(rate);
  }
  addOutput(price, rates);
  const perHour = rates.audio_hours ?? rates.input_audio_hours;
  if (perHour !== undefined) price.per_hour = highestRatesOf(perHour);
  const tierStarts = Object.values(rates).flatMap((rate) => (typeof rate === 'object' ? rate.tiers : []));
  if (model.deprecated === true) price.deprecated = true;
  if (tierStarts.length > 0) price.long_context_threshold = Math.min(...tierStarts.map((tier) => tier.start));
  return price;
}

/** UTC days `YYYY-MM-DD` on which dated prices of a model start. */
export function startDaysOf(model: ModelInfo): string[] {
  if (!Array.isArray(model.prices)) return [];
  return model.prices.flatMap(({ constraint }) => (constraint?.type === 'start_date' ? [constraint.start_date] : []));
}

function addOutput(price: Draft, rates: LibraryPrice): void {
  const unseen = Math.max(0, ...UNSEEN_OUTPUT_RATES.map((name) => highestRatesOf(rates[name])));
  const output = rates.output_mtok;
  if (output !== undefined) {
    price.output = Math.max(baseOf(output), unseen);
    if (unseen > baseOf(output)) price.text_output = baseOf(output);
    if (typeof output === 'object') price.long_output = Math.max(highestRatesOf(output), unseen);
  } else if (price.input !== undefined && !Object.keys(rates).some((name) => name.startsWith('output_'))) {
    // Embedding models generate no tokens, so their output is free.
    price.output = 0;
  }
}

/**
 * Later entries override earlier ones: the last one that has started is the base price. Later entries limited to hours
 * of the day compete with it; the highest price wins.
 */
function ratesInForce(model: ModelInfo, utcDay: string): LibraryPrice {
  if (!Array.isArray(model.prices)) return model.prices;
  const candidates: LibraryPrice[] = [];
  for (const { constraint, prices } of model.prices.toReversed()) {
    if (constraint?.type === 'start_date' && constraint.start_date > utcDay) continue;
    candidates.push(prices);
    if (constraint?.type !== 'time_of_date') break;
  }
  return candidates.reduce((highest, next) => (weight(next) > weight(highest) ? next : highest), candidates[0] ?? {});
}

function weight(rates: LibraryPrice): number {
  return Object.values(rates).reduce<number>((sum, rate) => sum + baseOf(rate), 0);
}

function baseOf(rate: LibraryRate): number {
  return typeof rate === 'object' ? rate.base : (rate ?? 0);
}

function highestRatesOf(rate: LibraryRate): number {
  return typeof rate === 'object' ? Math.max(rate.base, ...rate.tiers.map((tier) => tier.price)) : (rate ?? 0);
}
