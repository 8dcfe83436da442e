import { costNanoUsd, hasUnpricedAudio } from '../../../pricing/cost.rules.js';
import {
  estimatedCostNanoUsd,
  maxCostOf,
  toolModelCallNanoUsd,
  unexplainedCostNanoUsd,
} from '../../../pricing/max-cost.rules.js';
import type { CompiledPrice } from '../../../pricing/model-price.js';
import { isDearerTier } from '../../../upstreams/usage/answer-facts.rules.js';
import type { UsageReading } from '../../../upstreams/usage/token-counts.js';
import type { UsageAdmission, UsageOutcome } from '../usage-event.js';
import {
  hasUnpricedTier,
  type ResolvedCost,
  resolveCost,
  type UnresolvedReason,
  usedUnpricedTools,
} from './usage-cost.rules.js';
import { wholeNumber } from './usage-line.rules.js';

/** The highest list price of a hosted search, per call: 35 USD per thousand. */
const TOOL_CALL_NANO_USD = 35_000_000;

/** Assumed rates of a service tier whose rates are unknown, relative to the standard price. */
const UNKNOWN_TIER_FACTOR = 2;

/** The budget charge of a request: the known cost and the estimate of the unknown rest. */
export interface CallCharge {
  readonly cost: ResolvedCost;
  /** In addition to the cost, in whole nano-dollars; never negative. */
  readonly estimateNanoUsd: number;
}

/** Inputs of an estimate. */
type Estimable = Pick<UsageAdmission, 'reportsCost' | 'maxCostNanoUsd' | 'sent' | 'maxOutputTokens'>;

/**
 * The cost and the estimate of a finished request. A computed cost becomes unresolved when earlier targets may have
 * charged as well; a reported cost stays as it is.
 *
 * Source: ADR 0007.
 */
export function chargeOf(admission: Estimable, outcome: UsageOutcome): CallCharge {
  const own = resolveCost(admission.reportsCost, outcome);
  const unanswered = wholeNumber(outcome.unansweredNanoUsd ?? 0);
  const estimateNanoUsd = wholeNumber(ownEstimate(own, admission, outcome) + unanswered);
  const isEarlier = own.source === 'computed' && unanswered > 0;
  const cost: ResolvedCost = isEarlier
    ? { source: 'unresolved', nanoUsd: own.nanoUsd, reason: 'earlier_target_unheard' }
    : own;
  return { cost, estimateNanoUsd: Math.min(estimateNanoUsd, Number.MAX_SAFE_INTEGER - cost.nanoUsd) };
}

/** Cost plus estimate. */
export function chargedNanoUsd({ cost, estimateNanoUsd }: CallCharge): number {
  return cost.nanoUsd + estimateNanoUsd;
}

/**
 * Tokens that the limits of tokens count: those that the response reports, else an estimate, as for the cost. An answer
 * without a charge counts none.
 *
 * Source: docs/reference/accounting.md#token-limits.
 */
export function chargedTokens(admission: UsageAdmission, outcome: UsageOutcome): number {
  const { ending, reading } = outcome;
  if (ending === 'unsent' || ending === 'refused') return 0;
  const output = likelyOutput(admission, outcome);
  if (!reading?.usageSeen) return reading?.failure === 'before_content' ? 0 : admission.sent.inputTokens + output;
  const { inputTokens, cachedInputTokens, cacheWriteTokens } = reading;
  return inputTokens + cachedInputTokens + cacheWriteTokens + output;
}

/** The logged reason of a request with an estimate or an unresolved cost; undefined for every other request. */
export function unresolvedReason({ cost, estimateNanoUsd }: CallCharge): UnresolvedReason | undefined {
  if (cost.source === 'unresolved') return cost.reason;
  return estimateNanoUsd > 0 ? 'earlier_target_unheard' : undefined;
}

/**
 * The estimate of what was not received is limited so that cost and estimate do not exceed the maximum cost of the
 * request. What the response itself says is not: it has been used, whatever the request allowed.
 */
function ownEstimate(cost: ResolvedCost, admission: Estimable, outcome: UsageOutcome): number {
  if (cost.source !== 'unresolved') return 0;
  const unheard = likelyCost(admission, outcome) - cost.nanoUsd + unpricedToolCost(outcome);
  const limit = Math.max(0, admission.maxCostNanoUsd - cost.nanoUsd);
  return Math.min(Math.max(0, unheard), limit) + statedCost(cost, outcome);
}

/** Cost of what the response states and no price covers: unknown measures, and a more expensive service tier. */
function statedCost({ nanoUsd }: ResolvedCost, { price, toolPrices, reading }: UsageOutcome): number {
  if (price === undefined || reading === undefined || reading.implausible) return 0;
  const unknown = unknownMeasureCost([price, ...(toolPrices ?? [])], reading, nanoUsd);
  return isDearerTier(reading.otherTier) && hasUnpricedTier(price, reading)
    ? nanoUsd * (UNKNOWN_TIER_FACTOR - 1) + unknown * UNKNOWN_TIER_FACTOR
    : unknown;
}

/**
 * Tokens cost the highest rate of their side, at the most expensive of the models that may have used them; for a
 * counter of another unit, the rest of the call is counted once more.
 *
 * @param prices that of the request's own model first.
 */
function unknownMeasureCost(
  prices: readonly [CompiledPrice, ...CompiledPrice[]],
  reading: UsageReading,
  computedNanoUsd: number,
): number {
  const [price] = prices;
  const { unknownMeasure: unknown, parts } = reading;
  const isOtherUnit = unknown?.hasOtherUnit || hasUnpricedAudio(price, parts);
  const ofTokens =
    unknown === undefined ? 0 : Math.max(...prices.map((one) => unexplainedCostNanoUsd(one, unknown, reading)));
  return (isOtherUnit ? computedNanoUsd : 0) + ofTokens;
}

function unpricedToolCost({ price, reading, hostedTools, toolPrices = [] }: UsageOutcome): number {
  const isUsed = price !== undefined && reading?.usageSeen && usedUnpricedTools(price, reading, hostedTools);
  return isUsed ? toolCost(reading, toolPrices) : 0;
}

/** At least one call; exactly one when the response has no count. */
function toolCost(reading: UsageReading | undefined, toolPrices: readonly CompiledPrice[]): number {
  const ofCall = Math.max(TOOL_CALL_NANO_USD, toolModelCallNanoUsd(toolPrices));
  return Math.max(1, reading?.hostedToolCalls ?? 1) * ofCall;
}

/** Prompt tokens are those the response reports, else those sent; output tokens come from `likelyOutput`. */
function likelyCost(admission: Estimable, outcome: UsageOutcome): number {
  const { price, reading } = outcome;
  const outputTokens = likelyOutput(admission, outcome);
  if (reading?.usageSeen) {
    const usage = { ...reading, outputTokens };
    const { inputTokens, cachedInputTokens, cacheWriteTokens } = reading;
    const promptTokens = inputTokens + cachedInputTokens + cacheWriteTokens;
    if (price === undefined) return maxCostOf(undefined, { inputTokens: promptTokens, outputTokens, audioSeconds: 0 });
    const cost = costNanoUsd(price, usage);
    if (!('unresolved' in cost)) return cost.nanoUsd;
  }
  return estimatedCostNanoUsd(price, { ...admission.sent, outputTokens });
}

/** A cut response counts as the maximum output; a complete one counts as its observed size. */
function likelyOutput({ maxOutputTokens }: Estimable, { ending, reading, seenOutputTokens = 0 }: UsageOutcome): number {
  const counted = reading?.usageSeen ? reading.outputTokens : 0;
  if (reading?.usageSeen && !reading.isOpening) return counted;
  if (ending === 'cut') return Math.max(counted, maxOutputTokens);
  return ending === 'whole' ? Math.max(counted, Math.min(seenOutputTokens, maxOutputTokens)) : 0;
}
