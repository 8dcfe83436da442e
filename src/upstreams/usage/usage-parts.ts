/**
 * What an answer says of its usage beside the buckets, where a price list may have a rate of its own for it. Events store
 * these names. Token parts belong to one bucket and do not overlap within it.
 */
export const USAGE_PARTS = [
  // Of `cacheWriteTokens`: kept for an hour.
  'cache_write_1h',
  // Of `inputTokens`; unknown: the answer splits its prompt by kind, and these tokens are of no kind it names.
  'image_input',
  'video_input',
  'unknown_input',
  // Of `cachedInputTokens`.
  'cached_audio_input',
  'cached_image_input',
  // Of `outputTokens`. What is of none of these may be text or not: the answer does not split its output by kind.
  'text_output',
  'image_output',
  'video_output',
  'unknown_output',
  'reasoning_output',
  'citation_output',
  // Calls, not tokens.
  'web_search',
  'file_search',
  // 1 where the answer names the amount of context its search brought in; absent where it was high, or is not named.
  'low_context_search',
  'medium_context_search',
] as const;

export type UsagePart = (typeof USAGE_PARTS)[number];

/** Counts above zero; what is zero is absent. */
export type UsageParts = Readonly<Partial<Record<UsagePart, number>>>;

/** The parts that are above zero; undefined when none is, as in most answers. */
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

/** Joins cumulative counts of two events of one stream: the larger one of each holds. */
export function largestParts(one: UsageParts | undefined, other: UsageParts | undefined): UsageParts | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const largest = USAGE_PARTS.map((name) => [name, Math.max(one[name] ?? 0, other[name] ?? 0)] as const);
  return partsAboveZero(Object.fromEntries(largest));
}
