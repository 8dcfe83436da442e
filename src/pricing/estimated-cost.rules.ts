import { costNanoUsd } from './cost.rules.js';
import type { CompiledPrice } from './model-price.js';
import { worstCostNanoUsd } from './worst-cost.rules.js';

/** Estimate of what a request sends, from its body; never above its `UsageBounds`. */
export interface SentUsage {
  /** Prompt tokens of every kind together. */
  readonly inputTokens: number;
  /** Length of the recording in the request. */
  readonly audioSeconds: number;
}

/** The estimate of a request together with its assumed output. */
export interface EstimatedUsage extends SentUsage {
  readonly outputTokens: number;
}

/**
 * Estimates the cost of a call without reported usage: prompt and answer at the text rates, a recording at its rate
 * where the model is billed by time. Never above `worstCostNanoUsd` of bounds that are at least as high in every
 * member.
 *
 * @param price undefined where only the provider has the price; the rates of `worstCostNanoUsd` then apply.
 * @returns whole nano-dollars. Source: ADR 0042.
 */
export function estimatedCostNanoUsd(price: CompiledPrice | undefined, usage: EstimatedUsage): number {
  if (price === undefined) return worstCostNanoUsd(undefined, usage);
  const { inputTokens, outputTokens, audioSeconds } = usage;
  const cost = costNanoUsd(price, { ...NOTHING_ELSE, inputTokens, outputTokens, audioSeconds });
  return 'unresolved' in cost ? 0 : cost.nanoUsd;
}

const NOTHING_ELSE = {
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  audioInputTokens: 0,
  audioCachedInputTokens: 0,
  audioOutputTokens: 0,
};
