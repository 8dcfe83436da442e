import { divideHalfUp, toDecimal } from './decimal.rules.js';

/**
 * A price as clients see it: US dollars per 1 000 000 tokens, or per minute or hour of audio. Every member is optional;
 * `isBillable` says whether it prices anything. Source: contract-app 10, contract-admin 5.6.
 */
export interface ModelPrice {
  readonly input?: number;
  readonly output?: number;
  readonly cached_input?: number;
  readonly cache_write?: number;
  readonly audio_input?: number;
  readonly audio_output?: number;
  readonly cached_audio_input?: number;
  readonly image_input?: number;
  readonly image_output?: number;
  readonly video_input?: number;
  readonly per_minute?: number;
  readonly per_hour?: number;
  /** Prompt tokens; the `long_*` rates hold for the whole of a request strictly above it. */
  readonly long_context_threshold?: number;
  readonly long_input?: number;
  readonly long_output?: number;
  readonly long_cached_input?: number;
  readonly long_cache_write?: number;
  /** The lab behind a model that someone else hosts; display only. */
  readonly author?: string;
  /** `YYYY-MM-DD`, information only. */
  readonly retirement_date?: string;
}

/** Nano-dollars per 1 000 000 tokens, whole numbers; every fallback of contract-app 9.4 is already resolved. */
export interface TokenRates {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly audioInput: number;
  readonly audioCachedInput: number;
  readonly audioOutput: number;
}

/** A price ready for arithmetic: whole numbers only. Made by `compilePrice`. */
export interface CompiledPrice {
  /** Absent when the model is not sold by the token. */
  readonly tokens: TokenRates | undefined;
  /** For a prompt strictly above the threshold. */
  readonly longContext: { readonly thresholdTokens: number; readonly tokens: TokenRates } | undefined;
  readonly nanoUsdPerMinute: number | undefined;
  readonly nanoUsdPerHour: number | undefined;
}

/**
 * Whether a price can bill something: by the minute, by the hour, or by input and output tokens together. Zero is a
 * price. Source: contract-app 10, "Valid price".
 */
export function isBillable(price: ModelPrice): boolean {
  return isRate(price.per_minute) || isRate(price.per_hour) || (isRate(price.input) && isRate(price.output));
}

/**
 * Turns dollars into whole nano-dollars, once, so that billing never touches a binary fraction. A rate is exact to nine
 * decimals of a dollar; what is beyond them is rounded half up.
 *
 * @throws RangeError when a rate is negative, not finite, or above nine million dollars (past exact integers).
 * Source: contract-app 9.4, decision 4.2.
 */
export function compilePrice(price: ModelPrice): CompiledPrice {
  const tokens = compileTokens(price);
  const threshold = price.long_context_threshold;
  return {
    tokens,
    longContext:
      tokens === undefined || threshold === undefined
        ? undefined
        : { thresholdTokens: threshold, tokens: compileTokens(longContextPrice(price)) ?? tokens },
    nanoUsdPerMinute: toNanoUsd(price.per_minute),
    nanoUsdPerHour: toNanoUsd(price.per_hour),
  };
}

/** The price of a long prompt, in the words of a normal one. */
function longContextPrice(price: ModelPrice): ModelPrice {
  return {
    ...price,
    input: price.long_input ?? price.input,
    output: price.long_output ?? price.output,
    cached_input: price.long_cached_input ?? price.cached_input,
    cache_write: price.long_cache_write ?? price.cache_write,
  };
}

function compileTokens(price: ModelPrice): TokenRates | undefined {
  const input = toNanoUsd(price.input);
  const output = toNanoUsd(price.output);
  if (input === undefined || output === undefined) return undefined;
  const cachedInput = toNanoUsd(price.cached_input) ?? input;
  return {
    input,
    cachedInput,
    cacheWrite: toNanoUsd(price.cache_write) ?? input,
    output,
    audioInput: toNanoUsd(price.audio_input) ?? input,
    audioCachedInput: toNanoUsd(price.cached_audio_input) ?? cachedInput,
    audioOutput: toNanoUsd(price.audio_output) ?? output,
  };
}

function isRate(rate: number | undefined): boolean {
  return rate !== undefined && Number.isFinite(rate) && rate >= 0;
}

function toNanoUsd(usd: number | undefined): number | undefined {
  if (usd === undefined) return undefined;
  const { digits, scale } = toDecimal(usd);
  const nanoUsd = Number(divideHalfUp(digits * 1_000_000_000n, 10n ** BigInt(scale)));
  if (!Number.isSafeInteger(nanoUsd)) throw new RangeError('the rate is too large to bill exactly');
  return nanoUsd;
}
