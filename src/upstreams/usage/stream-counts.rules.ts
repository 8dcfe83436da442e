import { partsAboveZero, type TokenCounts, USAGE_PARTS, type UsagePart } from './token-counts.js';

/** Parts that tell kinds of uncached input, and of output. */
const INPUT_KINDS: readonly UsagePart[] = ['image_input', 'video_input', 'unknown_input'];
const OUTPUT_KINDS: readonly UsagePart[] = ['text_output', 'image_output', 'video_output', 'unknown_output'];
const INPUT_PARTS: ReadonlySet<UsagePart> = new Set<UsagePart>([
  ...INPUT_KINDS,
  ...(['cache_write_1h', 'cached_audio_input', 'cached_image_input', 'audio_input_ms', 'largest_prompt'] as const),
]);
const OUTPUT_PARTS: ReadonlySet<UsagePart> = new Set<UsagePart>([
  ...OUTPUT_KINDS,
  ...(['reasoning_output', 'citation_output'] as const),
]);

/**
 * Merges the counts of two events of one stream that are not cumulative. Each side, prompt and answer, comes with its
 * parts from the later event that has tokens of it. Where only the earlier event splits a side by kind, the kinds of
 * that side are unknown. Calls are gathered over both. Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function joinSides(later: TokenCounts, earlier: TokenCounts): TokenCounts {
  const input = promptTokensOf(later) > 0 ? later : earlier;
  const output = later.outputTokens > 0 ? later : earlier;
  const parts = USAGE_PARTS.map((name) => [name, partOfSides(name, input, output, earlier)] as const);
  return {
    ...input,
    outputTokens: output.outputTokens,
    reasoningTokens: output.reasoningTokens,
    audioOutputTokens: output.audioOutputTokens,
    parts: partsAboveZero({
      ...Object.fromEntries(parts),
      ...(losesKinds(input, earlier, inputKindsOf) ? { unknown_input: input.inputTokens } : {}),
      ...(losesKinds(output, earlier, outputKindsOf) ? { unknown_output: output.outputTokens } : {}),
    }),
  };
}

function partOfSides(name: UsagePart, input: TokenCounts, output: TokenCounts, earlier: TokenCounts) {
  if (INPUT_PARTS.has(name)) return input.parts?.[name];
  if (OUTPUT_PARTS.has(name)) return output.parts?.[name];
  return Math.max(input.parts?.[name] ?? 0, output.parts?.[name] ?? 0, earlier.parts?.[name] ?? 0);
}

function promptTokensOf({ inputTokens, cachedInputTokens, cacheWriteTokens }: TokenCounts): number {
  return inputTokens + cachedInputTokens + cacheWriteTokens;
}

function losesKinds(used: TokenCounts, earlier: TokenCounts, kindsOf: (tokens: TokenCounts) => number): boolean {
  return kindsOf(earlier) > 0 && kindsOf(used) === 0;
}

function inputKindsOf({ audioInputTokens, parts }: TokenCounts): number {
  return INPUT_KINDS.reduce((sum, name) => sum + (parts?.[name] ?? 0), audioInputTokens);
}

function outputKindsOf({ audioOutputTokens, parts }: TokenCounts): number {
  return OUTPUT_KINDS.reduce((sum, name) => sum + (parts?.[name] ?? 0), audioOutputTokens);
}
