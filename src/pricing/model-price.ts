/**
 * A price as the API presents it: US dollars per 1 000 000 tokens, per minute or hour of audio, or per 1 000 calls.
 * Every member is optional; `isBillable` reports whether the price can bill a call.
 * Source: docs/reference/accounting.md#price-list-and-dates, docs/reference/management-api.md#price-list.
 */
export interface ModelRates {
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
  /** Cache writes with a lifetime of one hour. */
  readonly cache_write_1h?: number;
  /** Output reported as text, for a model with more expensive kinds of output; `output` is then the highest rate. */
  readonly text_output?: number;
  readonly video_output?: number;
  /** Reasoning and citations of a provider that counts them in addition to the output. */
  readonly reasoning_output?: number;
  readonly citation_output?: number;
  readonly per_1k_web_searches?: number;
  readonly per_1k_file_searches?: number;
  /** Models that charge a search fee per request; the next two apply where the answer reports that context size. */
  readonly per_1k_requests?: number;
  readonly per_1k_requests_low_context?: number;
  readonly per_1k_requests_medium_context?: number;
  readonly per_minute?: number;
  readonly per_hour?: number;
  /** US dollars for each image that the request asks for. */
  readonly per_image?: number;
  /** US dollars for every request, whatever it uses. */
  readonly per_request?: number;
  /** Characters of the request's text. */
  readonly per_1k_characters?: number;
  /** Prompt tokens; above the threshold the `long_*` rates apply to the whole request. */
  readonly long_context_threshold?: number;
  readonly long_input?: number;
  readonly long_output?: number;
  readonly long_cached_input?: number;
  readonly long_cache_write?: number;
  readonly long_cache_write_1h?: number;
}

/** A price with its service tiers and what the list says about the model. */
export interface ModelPrice extends ModelRates {
  /** Rates of service tiers; a rate that a tier does not have is that of the standard tier. */
  readonly tiers?: Readonly<Partial<Record<PricedTier, ModelRates>>>;
  /** Developer of a model that another provider hosts; display only. */
  readonly author?: string;
  /** The library lists it as one that its provider no longer recommends; information only. */
  readonly deprecated?: boolean;
  /** `YYYY-MM-DD`, information only. */
  readonly retirement_date?: string;
}

/** Service tiers that may have rates of their own. */
export const PRICED_TIERS = ['flex', 'priority', 'batch'] as const;

export type PricedTier = (typeof PRICED_TIERS)[number];

/** Nano-dollars per 1 000 000 tokens, whole numbers; all fallbacks between rates are resolved. */
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
  /** Highest rate among the kinds of input and of output, cache writes excluded. */
  readonly highestInputRate: number;
  readonly highestOutputRate: number;
}

/** Nano-dollars per 1 000 calls, whole numbers. */
export interface CallRates {
  /** Undefined: the price of a search is unknown. */
  readonly webSearch: number | undefined;
  readonly fileSearch: number | undefined;
  /** Fee of every request, searches included; undefined where requests have no fee of their own. */
  readonly request: { readonly high: number; readonly medium: number; readonly low: number } | undefined;
}

/** Nano-dollars, whole numbers, of what a request asks for. */
export interface RequestRates {
  readonly perRequest: number | undefined;
  readonly perImage: number | undefined;
  /** Per 1 000 characters. */
  readonly characters: number | undefined;
}

/** A price prepared for integer arithmetic. Created by `compilePrice`. */
export interface CompiledPrice {
  /** Absent when the model is not billed by tokens. */
  readonly tokens: TokenRates | undefined;
  /** Applies to a prompt strictly above the threshold. */
  readonly longContext: { readonly thresholdTokens: number; readonly tokens: TokenRates } | undefined;
  readonly nanoUsdPerMinute: number | undefined;
  readonly nanoUsdPerHour: number | undefined;
  /** Absent when only tokens and time are priced. */
  readonly calls?: CallRates;
  /** Absent without rates for what a request asks for. */
  readonly asked?: RequestRates;
  /** Prices of service tiers, without tiers of their own. */
  readonly tiers?: Readonly<Partial<Record<PricedTier, CompiledPrice>>>;
}

/**
 * Whether a price can bill a call: per minute, per hour, for what the request asks for, or by both input and output
 * tokens. Zero is a price.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export function isBillable(price: ModelRates): boolean {
  const { per_minute, per_hour, per_image, per_request, per_1k_characters, input, output } = price;
  const alone = [per_minute, per_hour, per_image, per_request, per_1k_characters];
  return alone.some(isRate) || (isRate(input) && isRate(output));
}

/**
 * Converts dollars to whole nano-dollars once, so that billing uses no binary fractions. A rate is exact to nine
 * decimals of a dollar; further decimals are rounded half up.
 *
 * @throws RangeError when a rate is negative, not finite, or above nine million dollars (beyond exact integers).
 * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/accounting.md#money-and-time.
 */
export function compilePrice(price: ModelPrice): CompiledPrice {
  const { tiers } = price;
  const compiled = compileRates(price);
  if (tiers === undefined) return compiled;
  const named = PRICED_TIERS.flatMap((tier) => {
    const rates = tiers[tier];
    return rates === undefined ? [] : [[tier, compileRates({ ...price, ...rates })] as const];
  });
  return { ...compiled, tiers: Object.fromEntries(named) };
}

function compileRates(price: ModelRates): CompiledPrice {
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
    ...compileAsked(price),
  };
}

/** Highest rate that `compilePrice` takes whatever its decimals, in US dollars. */
export const HIGHEST_RATE_USD = 9_000_000;

/** The price of a path that the provider serves for free. */
export const NO_CHARGE: CompiledPrice = Object.freeze(compilePrice({ input: 0, output: 0 }));

/** Maps the `long_*` rates to the members of a normal price. */
function longContextPrice(price: ModelRates): ModelRates {
  return {
    ...price,
    input: price.long_input ?? price.input,
    output: price.long_output ?? price.output,
    cached_input: price.long_cached_input ?? price.cached_input,
    cache_write: price.long_cache_write ?? price.cache_write,
    cache_write_1h: price.long_cache_write_1h ?? price.cache_write_1h,
    // The long-context rate of text alone is unknown where the long output rate is the highest of several kinds.
    text_output: price.long_output === undefined ? price.text_output : undefined,
  };
}

function compileTokens(price: ModelRates): TokenRates | undefined {
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
    highestInputRate: Math.max(input, ...Object.values(ofInput)),
    highestOutputRate: Math.max(output, ...Object.values(ofOutput)),
  };
}

function compileCalls(price: ModelRates): { readonly calls?: CallRates } {
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

function compileAsked(price: ModelRates): { readonly asked?: RequestRates } {
  const perRequest = toNanoUsd(price.per_request);
  const perImage = toNanoUsd(price.per_image);
  const characters = toNanoUsd(price.per_1k_characters);
  if (perRequest === undefined && perImage === undefined && characters === undefined) return {};
  return { asked: { perRequest, perImage, characters } };
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

/** A non-negative decimal, exactly `digits / 10 ** scale`. */
interface Decimal {
  readonly digits: bigint;
  /** Digits behind the point, 0 or more. */
  readonly scale: number;
}

/**
 * Converts a number to the decimal of its shortest representation, without binary fraction error.
 *
 * @throws RangeError for a negative number, NaN or infinity.
 */
export function toDecimal(value: number): Decimal {
  if (!Number.isFinite(value) || value < 0) throw new RangeError('a finite number of at least 0 is needed');
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** `numerator / denominator` rounded to an integer, half up. `numerator` is at least 0, `denominator` above 0. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}
