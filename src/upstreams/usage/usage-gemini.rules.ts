import { counterIn, type JsonObject, memberOf, objectIn, objectsIn } from './json-fields.rules.js';
import { NO_TOKENS, type TokenCounts } from './usage-reading.js';

const COUNTERS = ['promptTokenCount', 'cachedContentTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'] as const;

/**
 * Token counts of a `generateContent` answer or of one element of its stream.
 *
 * @returns undefined when `usageMetadata` has none of the four counters.
 * Source: contract-app 9.2.
 */
export function readGeminiTokens(document: JsonObject): TokenCounts | undefined {
  const usage = objectIn(document, 'usageMetadata');
  const [prompt, cached = 0, candidates, thoughts] = COUNTERS.map((name) => counterIn(usage, name));
  if (COUNTERS.every((name) => counterIn(usage, name) === undefined)) return undefined;
  const input = Math.max(0, (prompt ?? 0) - cached);
  const audioCached = Math.min(cached, audioTokens(usage, ['cacheTokensDetails']));
  const audioPrompt = audioTokens(usage, ['promptTokensDetails', 'promptTokenDetails']);
  return {
    ...NO_TOKENS,
    inputTokens: input,
    cachedInputTokens: cached,
    outputTokens: (candidates ?? 0) + (thoughts ?? 0),
    reasoningTokens: thoughts ?? 0,
    audioInputTokens: Math.min(input, Math.max(0, audioPrompt - audioCached)),
    audioCachedInputTokens: audioCached,
    audioOutputTokens: Math.min(candidates ?? 0, audioTokens(usage, ['candidatesTokensDetails'])),
  };
}

function audioTokens(usage: JsonObject | undefined, lists: readonly string[]): number {
  const details = lists.map((name) => objectsIn(usage, name)).find((list) => list !== undefined) ?? [];
  return details
    .filter((detail) => memberOf(detail, 'modality') === 'AUDIO')
    .reduce((sum, detail) => sum + (counterIn(detail, 'tokenCount') ?? 0), 0);
}
