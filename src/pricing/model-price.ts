import { divideHalfUp, toDecimal } from './decimal.rules.js';

/**
 * A price as clients see it: US dollars per 1 000 000 tokens, per minute or hour of audio, or per
 * 1 000 calls. Every member is optional;
 * `isBillable` says whether it prices anything.
 * Source: docs/reference/accounting.md#price-list-and-dates, docs/reference/management-api.md#price-list.
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
  readonly cached_image_input?: number;
  /** Cache writes that are kept for an hour. */
  readonly cache_write_1h?: number;
  /** Output that is told to be text, of a model that also makes dearer things; `output` is the dearest then. */
  readonly text_output?: number;
  readonly video_output?: number;
  /** Reasoning and citations of a provider that counts them beside the output. */
  readonly reasoning_output?: number;
  readonly citation_output?: number;
  readonly per_1k_web_searches?: number;
  readonly per_1k_file_searches?: number;
  /** Of a model that charges every request for the search it makes; the next two hold where the answer says so. */
  readonly per_1k_requests?: number;
  readonly per_1k_requests_low_context?: number;
  readonly per_1k_requests_medium_context?: number;
  readonly per_minute?: number;
  readonly per_hour?: number;
  /** Prompt tokens; the `long_*` rates hold for the whole of a request strictly above it. */
  readonly long_context_threshold?: number;
  readonly long_input?: number;
  readonly long_output?: number;
  readonly long_cached_input?: number;
  readonly long_cache_write?: number;
  readonly long_cache_write_1h?: number;
  /** The lab behind a model that someone else hosts; display only. */
  readonly author?: string;
  /** `YYYY-MM-DD`, information only. */
  readonly retirement_date?: string;
}

/** Nano-dollars per 1 000 000 tokens, whole numbers; every fallback between rates is already resolved. */
export interface TokenRates {
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly audioInput: number;
  readonly audioCachedInput: number;
  readonly audioOutput: number;
  readonly cacheWrite1h: number;
  readonly imageInput: number;
  readonly videoInput: number;
  readonly imageCachedInput: number;
  readonly textOutput: number;
  readonly imageOutput: number;
  readonly videoOutput: number;
  readonly reasoningOutput: number;
  readonly citationOutput: number;
  /** The dearest kind of either side, cache writes apart. */
  readonly dearestInput: number;
  readonly dearestOutput: number;
}

/** Nano-dollars per 1 000 calls, whole numbers. */
export interface CallRates {
  /** Undefined: what a search costs is not known. */
  readonly webSearch: number | undefined;
  readonly fileSearch: number | undefined;
  /** Of every request, its searches included; undefined where requests cost nothing but what they use. */
  readonly request: { readonly high: number; readonly medium: number; readonly low: number } | undefined;
}

/** A price ready for arithmetic: whole numbers only. Made by `compilePrice`. */
export interface CompiledPrice {
  /** Absent when the model is not sold by the token. */
  readonly tokens: TokenRates | undefined;
  /** For a prompt strictly above the threshold. */
  readonly longContext: { readonly thresholdTokens: number; readonly tokens: TokenRates } | undefined;
  readonly nanoUsdPerMinute: number | undefined;
  readonly nanoUsdPerHour: number | undefined;
  /** Absent when only tokens and time are priced. */
  readonly calls?: CallRates;
}

/**
 * Whether a price can bill something: by the minute, by the hour, or by input and output tokens together. Zero is a
 * price. Source: docs/reference/accounting.md#price-list-and-dates.
 */
export function isBillable(price: ModelPrice): boolean {
  return isRate(price.per_minute) || isRate(price.per_hour) || (isRate(price.input) && isRate(price.output));
}

/**
 * Turns dollars into whole nano-dollars, once, so that billing never touches a binary fraction. A rate is exact to nine
 * decimals of a dollar; what is beyond them is rounded half up.
 *
 * @throws RangeError when a rate is negative, not finite, or above nine million dollars (past exact integers).
 * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/accounting.md#money-and-time.
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
    ...compileCalls(price),
  };
}

/** The price of what a provider does for nothing. */
export const NO_CHARGE: CompiledPrice = Object.freeze(compilePrice({ input: 0, output: 0 }));

/** The price of a long prompt, in the words of a normal one. */
function longContextPrice(price: ModelPrice): ModelPrice {
  return {
    ...price,
    input: price.long_input ?? price.input,
    output: price.long_output ?? price.output,
    cached_input: price.long_cached_input ?? price.cached_input,
    cache_write: price.long_cache_write ?? price.cache_write,
    cache_write_1h: price.long_cache_write_1h ?? price.cache_write_1h,
    // The dearest output is dearer still after a long prompt, and no long rate is known of text alone.
    text_output: price.long_output === undefined ? price.text_output : undefined,
  };
}

function compileTokens(price: ModelPrice): TokenRates | undefined {
  const input = toNanoUsd(price.input);
  const output = toNanoUsd(price.output);
  if (input === undefined || output === undefined) return undefined;
  const cachedInput = toNanoUsd(price.cached_input) ?? input;
  const cacheWrite = toNanoUsd(price.cache_write) ?? input;
  const rateOr = (usd: number | undefined, other: number) => toNanoUsd(usd) ?? other;
  const ofInput = {
    audioInput: rateOr(price.audio_input, input),
    imageInput: rateOr(price.image_input, input),
    videoInput: rateOr(price.video_input, input),
  };
  const ofOutput = {
    textOutput: rateOr(price.text_output, output),
    audioOutput: rateOr(price.audio_output, output),
    imageOutput: rateOr(price.image_output, output),
    videoOutput: rateOr(price.video_output, output),
    reasoningOutput: rateOr(price.reasoning_output, output),
    citationOutput: rateOr(price.citation_output, output),
  };
  return {
    ...{ input, cachedInput, cacheWrite, output, ...ofInput, ...ofOutput },
    audioCachedInput: rateOr(price.cached_audio_input, cachedInput),
    imageCachedInput: rateOr(price.cached_image_input, cachedInput),
    cacheWrite1h: rateOr(price.cache_write_1h, cacheWrite),
    dearestInput: Math.max(input, ...Object.values(ofInput)),
    dearestOutput: Math.max(output, ...Object.values(ofOutput)),
  };
}

function compileCalls(price: ModelPrice): { readonly calls?: CallRates } {
  const webSearch = toNanoUsd(price.per_1k_web_searches);
  const fileSearch = toNanoUsd(price.per_1k_file_searches);
  const high = toNanoUsd(price.per_1k_requests);
  if (webSearch === undefined && fileSearch === undefined && high === undefined) return {};
  const request =
    high === undefined
      ? undefined
      : {
          high,
          medium: toNanoUsd(price.per_1k_requests_medium_context) ?? high,
          low: toNanoUsd(price.per_1k_requests_low_context) ?? high,
        };
  return { calls: { webSearch, fileSearch, request } };
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
