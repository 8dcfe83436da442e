import type { UsageParts } from './usage-parts.js';

/**
 * Token counts of one answer: non-negative integers. The four buckets are disjoint, so their sum is everything that
 * is billed; the other counts are parts of a bucket. Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export interface TokenCounts {
  /** Prompt tokens that were neither read from nor written to a cache. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  /** Everything generated, reasoning included. */
  readonly outputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
  /** Part of `inputTokens`. */
  readonly audioInputTokens: number;
  /** Part of `cachedInputTokens`. */
  readonly audioCachedInputTokens: number;
  /** Part of `outputTokens`. */
  readonly audioOutputTokens: number;
  /** What else may have a rate of its own. */
  readonly parts?: UsageParts | undefined;
}

/** No tokens at all; the start of every reading. */
export const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  audioInputTokens: 0,
  audioCachedInputTokens: 0,
  audioOutputTokens: 0,
};

/**
 * What one provider answer said about itself.
 *
 * Source: docs/reference/accounting.md#tokens-of-an-answer, docs/reference/accounting.md#reported-costs.
 */
export interface UsageReading extends TokenCounts {
  /** False: the answer gave no count and no duration. The zeros above then mean "unknown", not "free". */
  readonly usageSeen: boolean;
  /** A number of the answer is beyond what any answer can use. The counts are zero then and there is no reported cost. */
  readonly implausible?: boolean;
  /** The service tier the answer names, where it is another one than the standard tier, which price lists are of. */
  readonly otherTier?: string | undefined;
  /** Length of the audio; may have a fraction. */
  readonly audioSeconds?: number;
  /** The counts are those of the beginning of an answer; what was generated after it is not among them. */
  readonly isOpening?: boolean;
  /** The provider's own figure; zero is a real report. Independent of `usageSeen`. */
  readonly reportedCostNanoUsd?: number;
  /** Only where a provider passes requests on to others. */
  readonly servedModel?: string;
  readonly servedProvider?: string;
  readonly credentialSource?: 'byok';
  /** Id of the provider-side response object (Responses API), 1 to 256 printable ASCII characters. */
  readonly responseId?: string;
  /** Calls of provider-run tools that cost beside the tokens, searches included. Absent: the answer does not say; zero: it says there were none. */
  readonly hostedToolCalls?: number;
}
