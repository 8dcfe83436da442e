import { costNanoUsd } from '../../pricing/cost.rules.js';
import { estimatedCostNanoUsd } from '../../pricing/estimated-cost.rules.js';
import { worstCostNanoUsd } from '../../pricing/worst-cost.rules.js';
import type { UsageReading } from '../../upstreams/usage/usage-reading.js';
import type { UsageAdmission, UsageOutcome } from '../usage-event.js';
import { type ResolvedCost, resolveCost, type UnresolvedReason } from './usage-cost.rules.js';
import { wholeNumber } from './usage-line.rules.js';

/** The dearest list price of a search that a provider runs: 35 USD a thousand. */
const TOOL_CALL_NANO_USD = 35_000_000;

/** What a request counts against budgets: what is known of its cost, and the estimate of the rest. */
export interface CallCharge {
  readonly cost: ResolvedCost;
  /** Whole nano-dollars beside the cost, never negative. */
  readonly estimateNanoUsd: number;
}

/** What an estimate is made of. */
type Estimable = Pick<UsageAdmission, 'reportsCost' | 'worstNanoUsd' | 'sent' | 'mostOutputTokens'>;

/**
 * What a finished request costs and what it may cost beside that. An estimate beside a computed cost, of targets that
 * were called before the one that served, makes the cost unresolved; a provider's own figure stays what it is.
 *
 * Source: ADR 0042.
 */
export function chargeOf(admission: Estimable, outcome: UsageOutcome): CallCharge {
  const own = resolveCost(admission.reportsCost, outcome);
  const unheard = wholeNumber(outcome.unheardNanoUsd ?? 0);
  const estimateNanoUsd = wholeNumber(ownEstimate(own, admission, outcome) + unheard);
  const isEarlier = own.source === 'computed' && unheard > 0;
  const cost: ResolvedCost = isEarlier
    ? { source: 'unresolved', nanoUsd: own.nanoUsd, reason: 'earlier_target_unheard' }
    : own;
  return { cost, estimateNanoUsd: Math.min(estimateNanoUsd, Number.MAX_SAFE_INTEGER - cost.nanoUsd) };
}

/** The sum of both. */
export function chargedNanoUsd({ cost, estimateNanoUsd }: CallCharge): number {
  return cost.nanoUsd + estimateNanoUsd;
}

/** What the log says of a request whose cost is not known in full; undefined of every other one. */
export function unresolvedReason({ cost, estimateNanoUsd }: CallCharge): UnresolvedReason | undefined {
  if (cost.source === 'unresolved') return cost.reason;
  return estimateNanoUsd > 0 ? 'earlier_target_unheard' : undefined;
}

/** Never so high that cost and estimate exceed the worst case of the call. */
function ownEstimate(cost: ResolvedCost, admission: Estimable, outcome: UsageOutcome): number {
  if (cost.source !== 'unresolved') return 0;
  const rest =
    cost.reason === 'unpriced_tool' ? toolCost(outcome.reading) : likelyCost(admission, outcome) - cost.nanoUsd;
  return Math.min(Math.max(0, rest), Math.max(0, admission.worstNanoUsd - cost.nanoUsd));
}

/** At least one call, where the answer does not say how many. */
function toolCost(reading: UsageReading | undefined): number {
  return Math.max(1, reading?.hostedToolCalls ?? 1) * TOOL_CALL_NANO_USD;
}

/** Of the prompt what the answer says of it, else what was sent; of the answer what `likelyOutput` says. */
function likelyCost(admission: Estimable, outcome: UsageOutcome): number {
  const { price, reading } = outcome;
  const outputTokens = likelyOutput(admission, outcome);
  if (reading?.usageSeen) {
    const usage = { ...reading, outputTokens };
    const { inputTokens, cachedInputTokens, cacheWriteTokens } = reading;
    const promptTokens = inputTokens + cachedInputTokens + cacheWriteTokens;
    if (price === undefined)
      return worstCostNanoUsd(undefined, { inputTokens: promptTokens, outputTokens, audioSeconds: 0 });
    const cost = costNanoUsd(price, usage);
    if (!('unresolved' in cost)) return cost.nanoUsd;
  }
  return estimatedCostNanoUsd(price, { ...admission.sent, outputTokens });
}

/** An answer that broke off may have gone on as far as it could; one that came to its end is as long as it looks. */
function likelyOutput(
  { mostOutputTokens }: Estimable,
  { ending, reading, seenOutputTokens = 0 }: UsageOutcome,
): number {
  const counted = reading?.usageSeen ? reading.outputTokens : 0;
  if (reading?.usageSeen && !reading.isOpening) return counted;
  if (ending === 'cut') return Math.max(counted, mostOutputTokens);
  return ending === 'whole' ? Math.max(counted, Math.min(seenOutputTokens, mostOutputTokens)) : 0;
}
