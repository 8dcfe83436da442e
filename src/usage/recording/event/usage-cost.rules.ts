import { costNanoUsd, hasUnpricedAudio, pricedCalls, servedPrice } from '../../../pricing/cost.rules.js';
import { type CompiledPrice, NO_CHARGE } from '../../../pricing/model-price.js';
import { toolFeeOf } from '../../../upstreams/hosted-tools.rules.js';
import { MOST_NANO_USD_OF_A_CALL } from '../../../upstreams/usage/answer-facts.rules.js';
import type { UsageReading } from '../../../upstreams/usage/token-counts.js';
import type { AnswerLoss, UsageOutcome } from '../usage-event.js';
import { wholeNumber } from './usage-line.rules.js';

/** Why a cost could not be resolved. */
export type UnresolvedReason =
  | AnswerLoss
  | 'client_aborted'
  | 'no_usage_reported'
  | 'no_local_price'
  | 'no_priced_measure'
  | 'no_cost_reported'
  | 'unpriced_tool'
  | 'unknown_measure'
  | 'earlier_target_unheard'
  | 'service_tier_differs'
  | 'usage_not_plausible';

/** A cost in whole nano-dollars and its source. */
export type ResolvedCost =
  | { readonly source: 'computed' | 'reported'; readonly nanoUsd: number }
  | { readonly source: 'unresolved'; readonly nanoUsd: number; readonly reason: UnresolvedReason };

const FREE: ResolvedCost = { source: 'computed', nanoUsd: 0 };

/**
 * The cost of a finished request. A cost that the provider reports takes precedence over the computed one. A request
 * that was never sent, that received an error response, also one with a successful status before any content and usage,
 * or whose path is free costs nothing. Otherwise an incomplete cost is `unresolved`, with its known part as the amount;
 * a client abort takes precedence over every other reason.
 *
 * @param mayReport whether the provider's responses on this route can contain a cost.
 * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/accounting.md#cost-sources, ADR 0007.
 */
export function resolveCost(mayReport: boolean, outcome: UsageOutcome): ResolvedCost {
  const reported = outcome.reading?.reportedCostNanoUsd;
  if (reported !== undefined) return { source: 'reported', nanoUsd: wholeNumber(reported) };
  const { ending, loss, clientAborted, reading } = outcome;
  if (ending === 'unsent' || ending === 'refused' || outcome.price === NO_CHARGE) return FREE;
  if (reading?.failure === 'before_content' && !reading.usageSeen) return FREE;
  const cost = computedCost(mayReport, outcome);
  if (cost.source !== 'unresolved') return cost;
  if (clientAborted) return { ...cost, reason: 'client_aborted' };
  return loss !== undefined && ending !== 'whole' ? { ...cost, reason: loss } : cost;
}

function computedCost(mayReport: boolean, outcome: UsageOutcome): ResolvedCost {
  const { price, reading } = outcome;
  if (reading?.implausible) return unresolved('usage_not_plausible');
  if (price === undefined && mayReport) return unresolved('no_cost_reported');
  if (reading === undefined || !reading.usageSeen) return unresolved('no_usage_reported');
  if (price === undefined) return unresolved('no_local_price');
  const cost = costNanoUsd(price, reading);
  if ('unresolved' in cost) return unresolved(cost.unresolved);
  if (cost.nanoUsd > MOST_NANO_USD_OF_A_CALL) return unresolved('usage_not_plausible');
  const nanoUsd = wholeNumber(cost.nanoUsd);
  // The response ended before it reported its output tokens.
  if (reading.isOpening && reading.failure !== 'before_content') return unresolved('no_usage_reported', nanoUsd);
  if (usedUnpricedTools(price, reading, outcome.hostedTools)) return unresolved('unpriced_tool', nanoUsd);
  if (usedUnknownMeasure(price, reading)) return unresolved('unknown_measure', nanoUsd);
  // The response reports another service tier than the price is for, so this cost is an approximation.
  if (hasUnpricedTier(price, reading)) return unresolved('service_tier_differs', nanoUsd);
  return { source: 'computed', nanoUsd };
}

/** Whether another service tier than the standard one served the call, and the price has no rates for it. */
export function hasUnpricedTier(price: CompiledPrice, { otherTier, parts }: UsageReading): boolean {
  return otherTier !== undefined && servedPrice(price, parts) === price;
}

/** Whether the response counts something that no reader knows, or that the price has no rate for. */
function usedUnknownMeasure(price: CompiledPrice, { unknownMeasure, parts }: UsageReading): boolean {
  return unknownMeasure !== undefined || hasUnpricedAudio(price, parts);
}

/**
 * Whether tools were used whose fee is unknown. The response's count of calls with a fee decides; without a count, an
 * offered tool with a fee may have been called.
 */
export function usedUnpricedTools(
  price: CompiledPrice,
  { hostedToolCalls, parts }: UsageReading,
  offered: readonly string[] = [],
): boolean {
  if (hostedToolCalls !== undefined) return hostedToolCalls > pricedCalls(price, parts);
  return offered.some((tool) => {
    const fee = toolFeeOf(tool);
    // A price per request includes its web search.
    return fee !== 'none' && (fee !== 'web_search' || price.calls?.request === undefined);
  });
}

function unresolved(reason: UnresolvedReason, nanoUsd = 0): ResolvedCost {
  return { source: 'unresolved', nanoUsd, reason };
}
