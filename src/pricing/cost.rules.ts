import type { UsageParts } from '../upstreams/usage/token-counts.js';
import {
  type CallRates,
  type CompiledPrice,
  divideHalfUp,
  PRICED_TIERS,
  type RequestRates,
  type TokenRates,
  toDecimal,
} from './model-price.js';

/**
 * Usage of one answer: whole tokens of at least 0. The four buckets are disjoint; each audio count is part of the
 * bucket it names.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export interface BillableUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly audioInputTokens: number;
  readonly audioCachedInputTokens: number;
  readonly audioOutputTokens: number;
  /** Parts of the buckets, and calls beside them, that have their own rates. */
  readonly parts?: UsageParts | undefined;
  /** Length of the recording, fractions allowed; absent when the answer does not state it. */
  readonly audioSeconds?: number | undefined;
}

/** A cost, or the fact that the price has no rate for the measured usage. */
export type Cost = { readonly nanoUsd: number } | { readonly unresolved: 'no_priced_measure' };

const TOKENS_PER_RATE = 1_000_000;
const HALF_OF_RATE = TOKENS_PER_RATE / 2;
/** Call rates are per 1 000 calls, so one call counts as this many tokens. */
const TOKENS_PER_CALL = TOKENS_PER_RATE / 1_000;
const MS_PER_SECOND = 1000;
const NO_PRICED_MEASURE: Cost = { unresolved: 'no_priced_measure' };

/**
 * Computes the cost of a call at the rates of the service tier that served it; reservation, billing and repricing all
 * use it. It includes the calls, and what the request asks for, that the price has rates for. The length of a recording
 * takes precedence over tokens, audio beside the tokens of a prompt adds to them, and the rate per minute over the rate
 * per hour. Usage without a rate leaves the cost unresolved, never 0.
 *
 * @returns whole nano-dollars, rounded once, half up; exact up to 2^53, beyond it the nearest representable number.
 * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/accounting.md#money-and-time.
 */
export function costNanoUsd(price: CompiledPrice, usage: BillableUsage): Cost {
  const served = servedPrice(price, usage.parts);
  const ofRequest = costOfRequest(served.asked, usage.parts);
  const ofUse = costOfUse(served, usage);
  if (ofRequest === undefined) return ofUse;
  // A price only for what the request asks for is complete: other measures of the answer deliberately have no rate.
  if (isPricedByRequest(served)) return { nanoUsd: ofRequest };
  return 'unresolved' in ofUse ? ofUse : { nanoUsd: ofUse.nanoUsd + ofRequest };
}

/** The price of the service tier that served a call; the standard one for a tier without rates. */
export function servedPrice(price: CompiledPrice, parts: UsageParts | undefined): CompiledPrice {
  const { tiers } = price;
  if (tiers === undefined || parts === undefined) return price;
  const served = PRICED_TIERS.filter((tier) => parts[`${tier}_tier`] !== undefined);
  const [tier] = served;
  return (tier === undefined || served.length > 1 ? undefined : tiers[tier]) ?? price;
}

/** Whether a price has rates for what a request asks for, and none for tokens or time. */
export function isPricedByRequest({ tokens, nanoUsdPerMinute, nanoUsdPerHour, asked }: CompiledPrice): boolean {
  return asked !== undefined && tokens === undefined && nanoUsdPerMinute === undefined && nanoUsdPerHour === undefined;
}

/** Undefined where the price has no rate for anything that the request asks for. */
export function costOfRequest(asked: RequestRates | undefined, parts: UsageParts = {}): number | undefined {
  if (asked === undefined) return undefined;
  const { perRequest, perImage, characters } = asked;
  const sum = new RatedSum();
  const counted: readonly (readonly [number | undefined, number | undefined])[] = [
    [TOKENS_PER_RATE, perRequest],
    [parts.images && parts.images * TOKENS_PER_RATE, perImage],
    [parts.characters && parts.characters * TOKENS_PER_CALL, characters],
  ];
  const known = counted.filter(([count, rate]) => count !== undefined && rate !== undefined);
  for (const [count = 0, rate = 0] of known) sum.add(count, rate);
  return known.length === 0 ? undefined : sum.nanoUsd;
}

function costOfUse(price: CompiledPrice, usage: BillableUsage): Cost {
  const seconds = usage.audioSeconds ?? 0;
  const spokenSeconds = (usage.parts?.audio_input_ms ?? 0) / MS_PER_SECOND;
  const promptTokens = usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens;
  const usedTokens = promptTokens + usage.outputTokens + pricedCalls(price, usage.parts) > 0;
  const timed = price.nanoUsdPerMinute !== undefined || price.nanoUsdPerHour !== undefined;

  if (timed && seconds > 0) return { nanoUsd: costOfTime(price, seconds) };
  const rates = tokenRatesOf(price, usage);
  if (rates !== undefined && usedTokens) {
    const ofTime = timed && spokenSeconds > 0 ? costOfTime(price, spokenSeconds) : 0;
    return { nanoUsd: costOfTokens(rates, usage, price.calls) + ofTime };
  }
  if (timed && spokenSeconds > 0) return { nanoUsd: costOfTime(price, spokenSeconds) };
  if (usedTokens || seconds > 0) return NO_PRICED_MEASURE;
  const measuredAsPriced = price.tokens !== undefined || (timed && usage.audioSeconds !== undefined);
  return measuredAsPriced ? { nanoUsd: 0 } : NO_PRICED_MEASURE;
}

/**
 * Token rates for the context of a call; undefined where the model is not billed by tokens. Each of several iterations
 * has its own context.
 */
export function tokenRatesOf(price: CompiledPrice, usage: BillableUsage): TokenRates | undefined {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, parts } = usage;
  const { tokens, longContext } = servedPrice(price, parts);
  const promptTokens = inputTokens + cachedInputTokens + cacheWriteTokens;
  const context = Math.min(parts?.largest_prompt ?? promptTokens, promptTokens);
  return longContext !== undefined && context > longContext.thresholdTokens ? longContext.tokens : tokens;
}

/** Requires a price with a rate per minute or per hour. */
function costOfTime(price: CompiledPrice, seconds: number): number {
  const { digits, scale } = toDecimal(seconds);
  const [rate, secondsPerRate] =
    price.nanoUsdPerMinute === undefined ? [price.nanoUsdPerHour ?? 0, 3600n] : [price.nanoUsdPerMinute, 60n];
  return Number(divideHalfUp(BigInt(rate) * digits, secondsPerRate * 10n ** BigInt(scale)));
}

function costOfTokens(rates: TokenRates, usage: BillableUsage, calls: CallRates | undefined): number {
  const sum = new RatedSum();
  addTokens(sum, rates, usage);
  if (calls !== undefined) addCalls(sum, calls, usage.parts);
  return sum.nanoUsd;
}

/**
 * Adds tokens at their rates, nano-dollars per 1 000 000. Exact: what a double does not hold exactly is a big integer.
 */
class RatedSum {
  #small = 0;
  #large = 0n;

  add(tokens: number, rate: number): void {
    const total = this.#small + tokens * rate;
    // All terms are non-negative, so a total this small proves that the product and the sum are exact integers.
    if (total <= Number.MAX_SAFE_INTEGER - HALF_OF_RATE) this.#small = total;
    else this.#large += BigInt(tokens) * BigInt(rate);
  }

  /** Adds a part of a bucket. @returns what is left of the bucket: its parts never exceed it. */
  addPart(bucket: number, tokens: number | undefined, rate: number): number {
    if (tokens === undefined) return bucket;
    const part = Math.min(tokens, bucket);
    this.add(part, rate);
    return bucket - part;
  }

  /** Rounded half up. */
  get nanoUsd(): number {
    if (this.#large > 0n) return Number(divideHalfUp(this.#large + BigInt(this.#small), BigInt(TOKENS_PER_RATE)));
    const rounded = this.#small + HALF_OF_RATE;
    return (rounded - (rounded % TOKENS_PER_RATE)) / TOKENS_PER_RATE;
  }
}

/** Each bucket has its own rate, but for the parts of it that have theirs. */
function addTokens(sum: RatedSum, rates: TokenRates, usage: BillableUsage): void {
  let input = sum.addPart(usage.inputTokens, usage.audioInputTokens, rates.audioInput);
  let cached = sum.addPart(usage.cachedInputTokens, usage.audioCachedInputTokens, rates.audioCachedInput);
  let written = usage.cacheWriteTokens;
  let output = sum.addPart(usage.outputTokens, usage.audioOutputTokens, rates.audioOutput);
  const { parts } = usage;
  if (parts !== undefined) {
    input = sum.addPart(input, parts.image_input, rates.imageInput);
    input = sum.addPart(input, parts.video_input, rates.videoInput);
    input = sum.addPart(input, parts.unknown_input, rates.highestInputRate);
    cached = sum.addPart(cached, parts.cached_image_input, rates.imageCachedInput);
    written = sum.addPart(written, parts.cache_write_1h, rates.cacheWrite1h);
    output = sum.addPart(output, parts.image_output, rates.imageOutput);
    output = sum.addPart(output, parts.video_output, rates.videoOutput);
    output = sum.addPart(output, parts.reasoning_output, rates.reasoningOutput);
    output = sum.addPart(output, parts.citation_output, rates.citationOutput);
    output = sum.addPart(output, parts.unknown_output, rates.highestOutputRate);
    output = sum.addPart(output, parts.text_output, rates.textOutput);
  }
  sum.add(input, rates.input);
  sum.add(cached, rates.cachedInput);
  sum.add(written, rates.cacheWrite);
  sum.add(output, rates.output);
}

/** Scales call counts so that 1 000 calls cost the rate once, like a million tokens. */
function addCalls(sum: RatedSum, { webSearch = 0, fileSearch = 0, request }: CallRates, parts: UsageParts = {}): void {
  const { web_search = 0, file_search = 0, low_context_search, medium_context_search } = parts;
  const perRequest = low_context_search ? request?.low : medium_context_search ? request?.medium : request?.high;
  sum.add(web_search * TOKENS_PER_CALL, webSearch);
  sum.add(file_search * TOKENS_PER_CALL, fileSearch);
  sum.add(TOKENS_PER_CALL, perRequest ?? 0);
}

/** Whether a prompt has audio that is counted by its length, and the price has no rate for time. */
export function hasUnpricedAudio(price: CompiledPrice, parts: UsageParts | undefined): boolean {
  const isTimed = price.nanoUsdPerMinute !== undefined || price.nanoUsdPerHour !== undefined;
  return parts?.audio_input_ms !== undefined && !isTimed;
}

/** Number of calls in the parts that the price has a rate for. */
export function pricedCalls(price: CompiledPrice, parts: UsageParts = {}): number {
  const { web_search = 0, file_search = 0 } = parts;
  const { calls } = servedPrice(price, parts);
  if (calls === undefined) return 0;
  const web = calls.webSearch === undefined && calls.request === undefined ? 0 : web_search;
  return web + (calls.fileSearch === undefined ? 0 : file_search);
}
