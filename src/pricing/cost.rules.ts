import type { UsageParts } from '../upstreams/usage/usage-parts.js';
import { divideHalfUp, toDecimal } from './decimal.rules.js';
import type { CallRates, CompiledPrice, TokenRates } from './model-price.js';

/**
 * What one answer used: whole tokens of at least 0. The four buckets do not overlap; the audio counts are the part of
 * the bucket they name that was audio. Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export interface BillableUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly audioInputTokens: number;
  readonly audioCachedInputTokens: number;
  readonly audioOutputTokens: number;
  /** What else of it, or beside it, has rates of its own. */
  readonly parts?: UsageParts | undefined;
  /** Length of the recording, fractions allowed; absent when the answer does not say. */
  readonly audioSeconds?: number | undefined;
}

/** A cost, or that the price has no rate for what was measured. */
export type Cost = { readonly nanoUsd: number } | { readonly unresolved: 'no_priced_measure' };

/** A number of tokens, and nano-dollars per 1 000 000 of them. */
type TokensAtRate = readonly [tokens: number, rate: number];

const TOKENS_PER_RATE = 1_000_000;
const HALF_OF_RATE = TOKENS_PER_RATE / 2;
/** Rates of calls are for a thousand of them. */
const TOKENS_PER_CALL = TOKENS_PER_RATE / 1_000;
const NO_PRICED_MEASURE: Cost = { unresolved: 'no_priced_measure' };

/**
 * The one price function: reservation, billing and reprice all call it. Calls that the price has rates for are part of it. Time decides before tokens, minutes before
 * hours; a measure the price has no rate for leaves the cost unresolved, never silently 0.
 *
 * @returns whole nano-dollars, rounded once, halves up; exact up to 2^53, beyond it the nearest number there is.
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

/** Only for a price with a rate by the minute or the hour. */
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
  // Nothing is negative, so a total this small proves that no product or partial sum left the exact integers.
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
      [parts.unknown_input, rates.dearestInput],
    ]),
    ...split(cached, rates.cachedInput, [[parts.cached_image_input, rates.imageCachedInput]]),
    ...split(written, rates.cacheWrite, [[parts.cache_write_1h, rates.cacheWrite1h]]),
    ...split(output, rates.output, [
      [parts.image_output, rates.imageOutput],
      [parts.video_output, rates.videoOutput],
      [parts.reasoning_output, rates.reasoningOutput],
      [parts.citation_output, rates.citationOutput],
      [parts.unknown_output, rates.dearestOutput],
      [parts.text_output, rates.textOutput],
    ]),
  ];
}

/** A bucket in its parts, the rest at the bucket's own rate; parts that overlap never make more than the bucket. */
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

/** A thousand calls cost their rate once, as a million tokens do. */
function callsAtRates({ webSearch = 0, fileSearch = 0, request }: CallRates, parts: UsageParts = {}): TokensAtRate[] {
  const { web_search = 0, file_search = 0, low_context_search, medium_context_search } = parts;
  const perRequest = low_context_search ? request?.low : medium_context_search ? request?.medium : request?.high;
  return [
    [web_search * TOKENS_PER_CALL, webSearch],
    [file_search * TOKENS_PER_CALL, fileSearch],
    [TOKENS_PER_CALL, perRequest ?? 0],
  ];
}

/** How many of the calls named in the parts the price covers. */
export function pricedCalls({ calls }: CompiledPrice, { web_search = 0, file_search = 0 }: UsageParts = {}): number {
  if (calls === undefined) return 0;
  const web = calls.webSearch === undefined && calls.request === undefined ? 0 : web_search;
  return web + (calls.fileSearch === undefined ? 0 : file_search);
}

function costOfManyTokens(parts: readonly TokensAtRate[]): number {
  const total = parts.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(rate), 0n);
  return Number(divideHalfUp(total, BigInt(TOKENS_PER_RATE)));
}
