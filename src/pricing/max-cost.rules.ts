import type { TierPart, UsageParts } from '../upstreams/usage/token-counts.js';
import { type BillableUsage, costNanoUsd, costOfRequest, tokenRatesOf } from './cost.rules.js';
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
  /** Images and characters of the request, where its price has rates for them. */
  readonly asked?: UsageParts | undefined;
  /** Models that tools can run besides; none when absent. */
  readonly toolModels?: readonly ToolModelBounds[];
}

/** Upper bounds of the usage of another model by a tool of the call. */
export interface ToolModelBounds {
  /** Undefined where the provider reports the cost. */
  readonly price: CompiledPrice | undefined;
  readonly bounds: UsageBounds;
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
export function maxCostOf(price: CompiledPrice | undefined, bounds: UsageBounds): number {
  const ofModel = maxCostOfModel(price, bounds);
  const { toolModels } = bounds;
  if (toolModels === undefined) return ofModel;
  const all = toolModels.reduce((sum, tool) => sum + maxCostOf(tool.price, tool.bounds), ofModel);
  return Math.min(all, Number.MAX_SAFE_INTEGER);
}

function maxCostOfModel(price: CompiledPrice | undefined, bounds: UsageBounds): number {
  if (price === undefined) return costAt(UNKNOWN_INPUT_RATE, UNKNOWN_OUTPUT_RATE, bounds);
  // The provider may choose the tier.
  return Math.max(...[price, ...Object.values(price.tiers ?? {})].map((tier) => maxCostInTier(tier, bounds)));
}

function maxCostInTier(price: CompiledPrice, bounds: UsageBounds): number {
  // A prompt may have audio beside its tokens.
  const ofUse = maxCostOfTokens(price, bounds) + maxCostOfTime(price, bounds.audioSeconds);
  const ofRequest = costOfRequest(price.asked, bounds.asked) ?? 0;
  return Math.min(ofUse + maxCostOfCalls(price, bounds.searches ?? 0) + ofRequest, Number.MAX_SAFE_INTEGER);
}

function maxCostOfTokens({ tokens, longContext }: CompiledPrice, bounds: UsageBounds): number {
  if (tokens === undefined) return 0;
  const normal = maxCostAtRates(tokens, bounds);
  if (longContext === undefined || bounds.inputTokens <= longContext.thresholdTokens) return normal;
  return Math.max(normal, maxCostAtRates(longContext.tokens, bounds));
}

function maxCostAtRates(rates: TokenRates, bounds: UsageBounds): number {
  const { cachedInput, audioCachedInput, imageCachedInput, cacheWrite, cacheWrite1h, highestInputRate } = rates;
  const highest = Math.max(highestInputRate, cachedInput, audioCachedInput, imageCachedInput, cacheWrite, cacheWrite1h);
  return costAt(highest, rates.highestOutputRate, bounds);
}

/** A model that bills citations searches without a request for it. */
function maxCostOfCalls({ calls, tokens }: CompiledPrice, asked: number): number {
  if (calls === undefined) return 0;
  const { webSearch = 0, fileSearch = 0, request } = calls;
  const searches = tokens !== undefined && tokens.citationOutput !== tokens.output ? Math.max(asked, SEARCHES) : asked;
  const perRequest = request === undefined ? 0 : Math.max(request.high, request.medium, request.low);
  return Math.ceil((searches * Math.max(webSearch, fileSearch) + perRequest) / CALLS_PER_RATE);
}

type TokenBounds = Pick<UsageBounds, 'inputTokens' | 'outputTokens'>;

function costAt(inputRate: number, outputRate: number, { inputTokens, outputTokens }: TokenBounds): number {
  const total = inputTokens * inputRate + outputTokens * outputRate;
  // All terms are non-negative, so a total this small proves that every product was an exact integer.
  if (total <= Number.MAX_SAFE_INTEGER) return Math.ceil(total / TOKENS_PER_RATE);
  const exact = BigInt(inputTokens) * BigInt(inputRate) + BigInt(outputTokens) * BigInt(outputRate);
  return bounded(exact / BigInt(TOKENS_PER_RATE) + 1n);
}

function maxCostOfTime({ nanoUsdPerMinute, nanoUsdPerHour }: CompiledPrice, seconds: number): number {
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

/** Assumed output tokens of a tool's model for one call: those of a large picture of high quality. */
const TOOL_OUTPUT_TOKENS = 6_240;

/** The highest estimate of one call of a tool that runs one of these models, in whole nano-dollars. */
export function toolModelCallNanoUsd(prices: readonly CompiledPrice[]): number {
  const most = { inputTokens: 0, outputTokens: TOOL_OUTPUT_TOKENS, audioSeconds: 0 };
  return prices.reduce((highest, price) => Math.max(highest, maxCostOfTokens(price, most)), 0);
}

/** Estimate of what a request sends, from its body; never above its `UsageBounds`. */
export interface SentUsage {
  /** Prompt tokens of every kind together. */
  readonly inputTokens: number;
  /** Length of the recording in the request. */
  readonly audioSeconds: number;
  /** Images and characters of the request, where its price has rates for them. */
  readonly asked?: UsageParts | undefined;
  /** The service tier that it selects, where its price has rates for it. */
  readonly tier?: TierPart | undefined;
}

/** The estimate of a request together with its assumed output. */
export interface EstimatedUsage extends SentUsage {
  readonly outputTokens: number;
}

/**
 * Estimates the cost of a call without reported usage: prompt and answer at the text rates, a recording at its rate
 * where the model is billed by time. Never above `maxCostOf` of bounds that are at least as high in every
 * member.
 *
 * @param price undefined where only the provider has the price; the rates of `maxCostOf` then apply.
 * @returns whole nano-dollars. Source: ADR 0007.
 */
export function estimatedCostNanoUsd(price: CompiledPrice | undefined, usage: EstimatedUsage): number {
  if (price === undefined) return maxCostOf(undefined, usage);
  const { inputTokens, outputTokens, audioSeconds, asked, tier } = usage;
  const parts = tier === undefined ? asked : { ...asked, [tier]: 1 };
  const cost = costNanoUsd(price, { ...NOTHING_ELSE, inputTokens, outputTokens, audioSeconds, parts });
  return 'unresolved' in cost ? 0 : cost.nanoUsd;
}

/** Tokens that an answer states and no part of its usage explains. */
export interface UnexplainedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Tokens of either side. */
  readonly tokens: number;
}

/**
 * Estimates the cost of tokens without a known kind: each at the highest rate of its side, those of either side at the
 * higher one.
 *
 * @param usage what the answer reports besides; decides whether the long-context rates apply.
 * @returns whole nano-dollars; 0 for a model that is not billed by tokens.
 * Source: docs/reference/accounting.md#unknown-measures.
 */
export function unexplainedCostNanoUsd(
  price: CompiledPrice,
  unexplained: UnexplainedTokens,
  usage: BillableUsage,
): number {
  const rates = tokenRatesOf(price, usage);
  if (rates === undefined) return 0;
  const { highestInputRate, highestOutputRate } = rates;
  const known = costAt(highestInputRate, highestOutputRate, unexplained);
  const either = costAt(Math.max(highestInputRate, highestOutputRate), 0, {
    inputTokens: unexplained.tokens,
    outputTokens: 0,
  });
  return Math.min(known + either, Number.MAX_SAFE_INTEGER);
}

const NOTHING_ELSE = {
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  audioInputTokens: 0,
  audioCachedInputTokens: 0,
  audioOutputTokens: 0,
};
