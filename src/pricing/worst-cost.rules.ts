import type { CompiledPrice, TokenRates } from './model-price.js';

/** Upper bounds of the usage of one call. */
export interface UsageBounds {
  /** Prompt tokens of every kind together. */
  readonly inputTokens: number;
  /** Generated tokens, all choices together. */
  readonly outputTokens: number;
  /** Length of the recording in the request. */
  readonly audioSeconds: number;
  /** Searches that provider-run tools can make; none when absent. */
  readonly searches?: number;
}

const TOKENS_PER_RATE = 1_000_000;
const SECONDS_PER_MINUTE = 60;
const SECONDS_PER_HOUR = 3_600;
const CALLS_PER_RATE = 1_000;

/** Assumed maximum number of searches of a call that may search. */
export const SEARCHES = 32;

/** Assumed rates where only the provider has the price, in nano-dollars per 1 000 000 tokens. */
const UNKNOWN_INPUT_RATE = 15_000_000_000;
const UNKNOWN_OUTPUT_RATE = 75_000_000_000;

/**
 * Maximum cost of a call within the bounds: every token at the highest rate that can apply to it, the recording at its
 * rate. Never below `costNanoUsd` of any usage within the bounds.
 *
 * @param price undefined where the provider reports the cost; the assumed rates are then 15 USD per million prompt
 *   tokens and 75 USD per million output tokens.
 * @returns whole nano-dollars, rounded up; at most `Number.MAX_SAFE_INTEGER`.
 * Source: docs/reference/accounting.md#hard-budgets.
 */
export function worstCostNanoUsd(price: CompiledPrice | undefined, bounds: UsageBounds): number {
  if (price === undefined) return costAt(UNKNOWN_INPUT_RATE, UNKNOWN_OUTPUT_RATE, bounds);
  const ofUse = Math.max(worstOfTokens(price, bounds), worstOfTime(price, bounds.audioSeconds));
  return Math.min(ofUse + worstOfCalls(price, bounds.searches ?? 0), Number.MAX_SAFE_INTEGER);
}

function worstOfTokens({ tokens, longContext }: CompiledPrice, bounds: UsageBounds): number {
  if (tokens === undefined) return 0;
  const normal = worstAtRates(tokens, bounds);
  if (longContext === undefined || bounds.inputTokens <= longContext.thresholdTokens) return normal;
  return Math.max(normal, worstAtRates(longContext.tokens, bounds));
}

function worstAtRates(rates: TokenRates, bounds: UsageBounds): number {
  const { cachedInput, audioCachedInput, imageCachedInput, cacheWrite, cacheWrite1h, dearestInput } = rates;
  const dearest = Math.max(dearestInput, cachedInput, audioCachedInput, imageCachedInput, cacheWrite, cacheWrite1h);
  return costAt(dearest, rates.dearestOutput, bounds);
}

/** A model that bills citations searches without a request for it. */
function worstOfCalls({ calls, tokens }: CompiledPrice, asked: number): number {
  if (calls === undefined) return 0;
  const { webSearch = 0, fileSearch = 0, request } = calls;
  const searches = tokens !== undefined && tokens.citationOutput !== tokens.output ? Math.max(asked, SEARCHES) : asked;
  const perRequest = request === undefined ? 0 : Math.max(request.high, request.medium, request.low);
  return Math.ceil((searches * Math.max(webSearch, fileSearch) + perRequest) / CALLS_PER_RATE);
}

function costAt(inputRate: number, outputRate: number, { inputTokens, outputTokens }: UsageBounds): number {
  const total = inputTokens * inputRate + outputTokens * outputRate;
  // All terms are non-negative, so a total this small proves that every product was an exact integer.
  if (total <= Number.MAX_SAFE_INTEGER) return Math.ceil(total / TOKENS_PER_RATE);
  const exact = BigInt(inputTokens) * BigInt(inputRate) + BigInt(outputTokens) * BigInt(outputRate);
  return bounded(exact / BigInt(TOKENS_PER_RATE) + 1n);
}

function worstOfTime({ nanoUsdPerMinute, nanoUsdPerHour }: CompiledPrice, seconds: number): number {
  if (nanoUsdPerMinute !== undefined) return costOfTime(nanoUsdPerMinute, SECONDS_PER_MINUTE, seconds);
  return nanoUsdPerHour === undefined ? 0 : costOfTime(nanoUsdPerHour, SECONDS_PER_HOUR, seconds);
}

function costOfTime(rate: number, secondsPerRate: number, seconds: number): number {
  const total = Math.ceil(seconds) * rate;
  if (total <= Number.MAX_SAFE_INTEGER) return Math.ceil(total / secondsPerRate);
  return bounded((BigInt(Math.ceil(seconds)) * BigInt(rate)) / BigInt(secondsPerRate) + 1n);
}

function bounded(nanoUsd: bigint): number {
  return nanoUsd > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nanoUsd);
}
