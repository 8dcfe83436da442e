import type { AnswerFailure } from './answer-failure.rules.js';
import type { UnknownMeasure } from './unread-counters.rules.js';

/**
 * Token counts of one answer: non-negative integers. The four buckets are disjoint, and their sum is everything billed;
 * the other counts are parts of a bucket.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export interface TokenCounts {
  /** Prompt tokens neither read from nor written to a cache. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  /** All generated tokens, reasoning included. */
  readonly outputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
  /** Part of `inputTokens`. */
  readonly audioInputTokens: number;
  /** Part of `cachedInputTokens`. */
  readonly audioCachedInputTokens: number;
  /** Part of `outputTokens`. */
  readonly audioOutputTokens: number;
  /** Further parts that may have their own rates. */
  readonly parts?: UsageParts | undefined;
}

/** The initial value of every reading. */
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
 * Facts that one provider answer states about itself.
 * Source: docs/reference/accounting.md#tokens-of-an-answer, docs/reference/accounting.md#reported-costs.
 */
export interface UsageReading extends TokenCounts {
  /** False: the answer stated no count and no duration. The zeros above then mean "unknown", not "free". */
  readonly usageSeen: boolean;
  /** A number in the answer exceeds the possible maximum. The counts are then zero and there is no reported cost. */
  readonly implausible?: boolean;
  /** The answer had a successful status and reports an error. */
  readonly failure?: AnswerFailure | undefined;
  /** What the answer counts and no reader knows. */
  readonly unknownMeasure?: UnknownMeasure | undefined;
  /** The service tier in the answer, where it differs from the standard tier of price lists. */
  readonly otherTier?: string | undefined;
  /** Length of the audio; may be fractional. */
  readonly audioSeconds?: number;
  /** The counts come from the first event of a stream; later output is not included. */
  readonly isOpening?: boolean;
  /** The cost the provider reports; zero is a valid report. Independent of `usageSeen`. */
  readonly reportedCostNanoUsd?: number;
  /** Set only by providers that route requests to others. */
  readonly servedModel?: string;
  readonly servedProvider?: string;
  readonly credentialSource?: 'byok';
  /** Id of the provider-side response object (Responses API), 1 to 256 printable ASCII characters. */
  readonly responseId?: string;
  /** Ids of further objects in the answer that the provider keeps, of the same form. */
  readonly keptIds?: readonly string[];
  /**
   * Calls of provider-run tools with a fee besides the tokens, searches included. Absent: not stated; zero: stated as
   * none.
   */
  readonly hostedToolCalls?: number;
}

/**
 * Details of usage besides the buckets that a price list may have separate rates for. Events store these names. Token
 * parts belong to one bucket and do not overlap within it.
 */
export const USAGE_PARTS = [
  // Part of `cacheWriteTokens`: lifetime of one hour.
  'cache_write_1h',
  // Parts of `inputTokens`; unknown: the answer splits its prompt by kind, and no named kind includes these tokens.
  'image_input',
  'video_input',
  'unknown_input',
  // Parts of `cachedInputTokens`.
  'cached_audio_input',
  'cached_image_input',
  // Parts of `outputTokens`. The rest may be text or not: the answer does not split its output by kind.
  'text_output',
  'image_output',
  'video_output',
  'unknown_output',
  'reasoning_output',
  'citation_output',
  // Calls, not tokens.
  'web_search',
  'file_search',
  // Billable parts of the request, if the price has rates for them: the request itself, images, characters of its text.
  'requests',
  'images',
  'characters',
  // 1 where the answer states that this service tier served it, or states none and the request selects it.
  'flex_tier',
  'priority_tier',
  'batch_tier',
  // 1 where the answer states this context size of its search; absent for high or an unstated size.
  'low_context_search',
  'medium_context_search',
  // Milliseconds of audio in a prompt that its provider does not count in tokens.
  'audio_input_ms',
  // Prompt tokens of the largest of several iterations: each has the context of its own.
  'largest_prompt',
] as const;

export type UsagePart = (typeof USAGE_PARTS)[number];

/** The part that marks a service tier which prices may have rates for. */
export type TierPart = Extract<UsagePart, 'flex_tier' | 'priority_tier' | 'batch_tier'>;

/** Counts above zero; zero counts are absent. */
export type UsageParts = Readonly<Partial<Record<UsagePart, number>>>;

/** Drops the parts that are zero; undefined when none is left, as for most answers. */
export function partsAboveZero(counts: Readonly<Partial<Record<UsagePart, number>>>): UsageParts | undefined {
  let parts: Partial<Record<UsagePart, number>> | undefined;
  for (const name of USAGE_PARTS) {
    const count = counts[name];
    if (!count) continue;
    parts ??= {};
    parts[name] = count;
  }
  return parts;
}

/** Merges cumulative counts of two events of one stream: the larger one of each applies. */
export function largestParts(one: UsageParts | undefined, other: UsageParts | undefined): UsageParts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const largest = USAGE_PARTS.map((name) => [name, Math.max(one[name] ?? 0, other[name] ?? 0)] as const);
  return partsAboveZero(Object.fromEntries(largest));
}
