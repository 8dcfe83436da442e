import { costNanoUsd } from '../../pricing/cost.rules.js';
import { estimatedCostNanoUsd, maxCostOf } from '../../pricing/max-cost.rules.js';
import type { UsageReading } from '../../upstreams/usage/usage-reading.js';
import type { UsageAdmission, UsageOutcome } from '../usage-event.js';
import { type ResolvedCost, resolveCost, type UnresolvedReason } from './usage-cost.rules.js';
import { wholeNumber } from './usage-line.rules.js';

/** The highest list price of a hosted search, per call: 35 USD per thousand. */
const TOOL_CALL_NANO_USD = 35_000_000;

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
 * Source: ADR 0042.
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

/** The logged reason of a request with an estimate or an unresolved cost; undefined for every other request. */
export function unresolvedReason({ cost, estimateNanoUsd }: CallCharge): UnresolvedReason | undefined {
  if (cost.source === 'unresolved') return cost.reason;
  return estimateNanoUsd > 0 ? 'earlier_target_unheard' : undefined;
}

/** Limited so that cost and estimate do not exceed the maximum cost of the request. */
function ownEstimate(cost: ResolvedCost, admission: Estimable, outcome: UsageOutcome): number {
  if (cost.source !== 'unresolved') return 0;
  const rest =
    cost.reason === 'unpriced_tool' ? toolCost(outcome.reading) : likelyCost(admission, outcome) - cost.nanoUsd;
  return Math.min(Math.max(0, rest), Math.max(0, admission.maxCostNanoUsd - cost.nanoUsd));
}

/** At least one call; exactly one when the response has no count. */
function toolCost(reading: UsageReading | undefined): number {
  return Math.max(1, reading?.hostedToolCalls ?? 1) * TOOL_CALL_NANO_USD;
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
