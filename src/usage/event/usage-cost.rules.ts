import { costNanoUsd } from '../../pricing/cost.rules.js';
import type { UsageOutcome } from '../usage-event.js';
import { wholeNumber } from './usage-line.rules.js';

/**
 * What a finished request counts against budgets, in whole nano-dollars: what is unknown is not free (decision 3.11).
 *
 * @param worstNanoUsd what the request could cost at most.
 * @param unheardNanoUsd of the outcome: what targets that did not serve it may cost beside it.
 */
export function chargeOf(cost: ResolvedCost, worstNanoUsd: number, unheardNanoUsd = 0): number {
  const known = cost.source === 'unresolved' ? Math.max(cost.nanoUsd, wholeNumber(worstNanoUsd)) : cost.nanoUsd;
  return wholeNumber(known + unheardNanoUsd);
}

/** Why a cost could not be resolved; `gateway_interrupted`: this service died before the request's end. */
export type UnresolvedReason =
  | 'client_aborted'
  | 'no_usage_reported'
  | 'no_local_price'
  | 'no_priced_measure'
  | 'no_cost_reported'
  | 'unpriced_tool'
  | 'gateway_interrupted';

/** A cost in whole nano-dollars and where it comes from. */
export type ResolvedCost =
  | { readonly source: 'computed' | 'reported'; readonly nanoUsd: number }
  | { readonly source: 'unresolved'; readonly nanoUsd: number; readonly reason: UnresolvedReason };

const FREE: ResolvedCost = { source: 'computed', nanoUsd: 0 };

/**
 * The cost of a finished request. The provider's own figure wins over ours. What cannot be known is said to be unknown,
 * with the part that is known as its cost; a client that left is then named as the reason before anything else.
 *
 * @param mayReport whether answers on this way may carry the provider's own figure.
 * Source: contract-app 9.4, 9.5; decision 3.6.
 */
export function resolveCost(mayReport: boolean, outcome: UsageOutcome): ResolvedCost {
  const reported = outcome.reading?.reportedCostNanoUsd;
  if (reported !== undefined) return { source: 'reported', nanoUsd: wholeNumber(reported) };
  if (outcome.status === 'provider_error' && !outcome.answered) return FREE;
  const cost = computedCost(mayReport, outcome);
  return cost.source === 'unresolved' && outcome.clientAborted ? { ...cost, reason: 'client_aborted' } : cost;
}

function computedCost(mayReport: boolean, outcome: UsageOutcome): ResolvedCost {
  const { price, reading } = outcome;
  if (price === undefined && mayReport) return unresolved('no_cost_reported');
  if (reading === undefined || !reading.usageSeen) return unresolved('no_usage_reported');
  if (price === undefined) return unresolved('no_local_price');
  const cost = costNanoUsd(price, reading);
  if ('unresolved' in cost) return unresolved(cost.unresolved);
  const nanoUsd = wholeNumber(cost.nanoUsd);
  // The answer was cut off before it said what it generated.
  if (reading.isOpening) return unresolved('no_usage_reported', nanoUsd);
  return usedHostedTools(outcome) ? unresolved('unpriced_tool', nanoUsd) : { source: 'computed', nanoUsd };
}

/** The answer's own count decides; where it does not say, a tool that was offered may have been used. */
function usedHostedTools({ reading, hostedTools = [] }: UsageOutcome): boolean {
  return reading?.hostedToolCalls === undefined ? hostedTools.length > 0 : reading.hostedToolCalls > 0;
}

function unresolved(reason: UnresolvedReason, nanoUsd = 0): ResolvedCost {
  return { source: 'unresolved', nanoUsd, reason };
}
