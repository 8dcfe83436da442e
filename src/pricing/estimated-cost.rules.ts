import { costNanoUsd } from './cost.rules.js';
import type { CompiledPrice } from './model-price.js';
import { worstCostNanoUsd } from './worst-cost.rules.js';

/** What a request sends, as far as its body tells: an estimate, never above its `UsageBounds`. */
export interface SentUsage {
  /** Prompt tokens of every kind together. */
  readonly inputTokens: number;
  /** Length of the recording sent. */
  readonly audioSeconds: number;
}

/** The same with what is taken to have been generated. */
export interface EstimatedUsage extends SentUsage {
  readonly outputTokens: number;
}

/**
 * What a call may have cost whose usage nobody heard: prompt and answer at the rates of text, a recording at its rate
 * where the model is sold by time. Never more than `worstCostNanoUsd` of bounds that are nowhere lower.
 *
 * @param price undefined where only the provider knows the price: the rates that `worstCostNanoUsd` assumes then.
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
