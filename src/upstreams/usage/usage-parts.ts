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
  // 1 where the answer states this context size of its search; absent for high or an unstated size.
  'low_context_search',
  'medium_context_search',
] as const;

export type UsagePart = (typeof USAGE_PARTS)[number];

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
