import type { UsageParts } from '../upstreams/usage/usage-reading.js';
import { type CallRates, type CompiledPrice, divideHalfUp, type TokenRates, toDecimal } from './model-price.js';

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

/** A number of tokens, and nano-dollars per 1 000 000 of them. */
type TokensAtRate = readonly [tokens: number, rate: number];

const TOKENS_PER_RATE = 1_000_000;
const HALF_OF_RATE = TOKENS_PER_RATE / 2;
/** Call rates are per 1 000 calls, so one call counts as this many tokens. */
const TOKENS_PER_CALL = TOKENS_PER_RATE / 1_000;
const NO_PRICED_MEASURE: Cost = { unresolved: 'no_priced_measure' };

/**
 * Computes the cost of a call; reservation, billing and repricing all use it. It includes the calls that the price has
 * rates for. Time takes precedence over tokens, and the rate per minute over the rate per hour. Usage without a rate
 * leaves the cost unresolved, never 0.
 *
 * @returns whole nano-dollars, rounded once, half up; exact up to 2^53, beyond it the nearest representable number.
 * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/accounting.md#money-and-time.
 */
export function costNanoUsd(price: CompiledPrice, usage: BillableUsage): Cost {
  const seconds = usage.audioSeconds ?? 0;
  const promptTokens = usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens;
  const usedTokens = promptTokens + usage.outputTokens + pricedCalls(price, usage.parts) > 0;
  const timed = price.nanoUsdPerMinute !== undefined || price.nanoUsdPerHour !== undefined;

  if (timed && seconds > 0) return { nanoUsd: costOfTime(price, seconds) };
  if (price.tokens !== undefined && usedTokens) {
    const long = price.longContext;
    const rates = long !== undefined && promptTokens > long.thresholdTokens ? long.tokens : price.tokens;
    return { nanoUsd: costOfTokens(rates, usage, price.calls) };
  }
  if (usedTokens || seconds > 0) return NO_PRICED_MEASURE;
  const measuredAsPriced = price.tokens !== undefined || (timed && usage.audioSeconds !== undefined);
  return measuredAsPriced ? { nanoUsd: 0 } : NO_PRICED_MEASURE;
}

/** Requires a price with a rate per minute or per hour. */
function costOfTime(price: CompiledPrice, seconds: number): number {
  const { digits, scale } = toDecimal(seconds);
  const [rate, secondsPerRate] =
    price.nanoUsdPerMinute === undefined ? [price.nanoUsdPerHour ?? 0, 3600n] : [price.nanoUsdPerMinute, 60n];
  return Number(divideHalfUp(BigInt(rate) * digits, secondsPerRate * 10n ** BigInt(scale)));
}

function costOfTokens(rates: TokenRates, usage: BillableUsage, calls: CallRates | undefined): number {
  const parts = tokensAtRates(rates, usage);
  if (calls !== undefined) parts.push(...callsAtRates(calls, usage.parts));
  const total = parts.reduce((sum, [tokens, rate]) => sum + tokens * rate, 0);
  // All terms are non-negative, so a total this small proves that every product and partial sum was an exact integer.
  if (total > Number.MAX_SAFE_INTEGER - HALF_OF_RATE) return costOfManyTokens(parts);
  const rounded = total + HALF_OF_RATE;
  return (rounded - (rounded % TOKENS_PER_RATE)) / TOKENS_PER_RATE;
}

function tokensAtRates(rates: TokenRates, usage: BillableUsage): TokensAtRate[] {
  const audioInput = Math.min(usage.audioInputTokens, usage.inputTokens);
  const audioCached = Math.min(usage.audioCachedInputTokens, usage.cachedInputTokens);
  const audioOutput = Math.min(usage.audioOutputTokens, usage.outputTokens);
  const [input, cached] = [usage.inputTokens - audioInput, usage.cachedInputTokens - audioCached];
  const [written, output] = [usage.cacheWriteTokens, usage.outputTokens - audioOutput];
  const audio: readonly TokensAtRate[] = [
    [audioInput, rates.audioInput],
    [audioCached, rates.audioCachedInput],
    [audioOutput, rates.audioOutput],
  ];
  const { parts } = usage;
  if (parts === undefined) {
    return [
      [input, rates.input],
      [cached, rates.cachedInput],
      [written, rates.cacheWrite],
      [output, rates.output],
      ...audio,
    ];
  }
  return [
    ...audio,
    ...split(input, rates.input, [
      [parts.image_input, rates.imageInput],
      [parts.video_input, rates.videoInput],
      [parts.unknown_input, rates.highestInputRate],
    ]),
    ...split(cached, rates.cachedInput, [[parts.cached_image_input, rates.imageCachedInput]]),
    ...split(written, rates.cacheWrite, [[parts.cache_write_1h, rates.cacheWrite1h]]),
    ...split(output, rates.output, [
      [parts.image_output, rates.imageOutput],
      [parts.video_output, rates.videoOutput],
      [parts.reasoning_output, rates.reasoningOutput],
      [parts.citation_output, rates.citationOutput],
      [parts.unknown_output, rates.highestOutputRate],
      [parts.text_output, rates.textOutput],
    ]),
  ];
}

/** Splits a bucket into its parts; the rest has the bucket's own rate. The parts never exceed the bucket. */
function split(
  bucket: number,
  rate: number,
  parts: readonly (readonly [tokens: number | undefined, rate: number])[],
): TokensAtRate[] {
  let rest = bucket;
  const rated: TokensAtRate[] = [];
  for (const [tokens = 0, partRate] of parts) {
    const part = Math.min(tokens, rest);
    rest -= part;
    rated.push([part, partRate]);
  }
  return [...rated, [rest, rate]];
}

/** Scales call counts so that 1 000 calls cost the rate once, like a million tokens. */
function callsAtRates({ webSearch = 0, fileSearch = 0, request }: CallRates, parts: UsageParts = {}): TokensAtRate[] {
  const { web_search = 0, file_search = 0, low_context_search, medium_context_search } = parts;
  const perRequest = low_context_search ? request?.low : medium_context_search ? request?.medium : request?.high;
  return [
    [web_search * TOKENS_PER_CALL, webSearch],
    [file_search * TOKENS_PER_CALL, fileSearch],
    [TOKENS_PER_CALL, perRequest ?? 0],
  ];
}

/** Number of calls in the parts that the price has a rate for. */
export function pricedCalls({ calls }: CompiledPrice, { web_search = 0, file_search = 0 }: UsageParts = {}): number {
  if (calls === undefined) return 0;
  const web = calls.webSearch === undefined && calls.request === undefined ? 0 : web_search;
  return web + (calls.fileSearch === undefined ? 0 : file_search);
}

function costOfManyTokens(parts: readonly TokensAtRate[]): number {
  const total = parts.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(rate), 0n);
  return Number(divideHalfUp(total, BigInt(TOKENS_PER_RATE)));
}
