import { counterIn, type JsonObject, memberOf, objectIn, partOf } from './json-fields.rules.js';
import { largestParts, NO_TOKENS, partsAboveZero, type TokenCounts } from './usage-reading.js';

/** Tool calls without a fee besides the tokens they add. */
const CALLS_WITHOUT_FEE: ReadonlySet<string> = new Set(['web_fetch_requests']);

const COUNTERS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const;

/** The `usage` object of a message or of a stream event (`message_start` nests it in `message`). */
export function anthropicUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'message'), 'usage');
}

/**
 * Token counts of a Messages answer or of one of its stream events.
 *
 * @returns undefined when all four counters are absent.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readAnthropicTokens(document: JsonObject): TokenCounts | undefined {
  const usage = anthropicUsageOf(document);
  const [input, cached, cacheWrite, output] = COUNTERS.map((name) => counterIn(usage, name));
  if (input === undefined && cached === undefined && cacheWrite === undefined && output === undefined) return undefined;
  const thinking = counterIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') ?? 0;
  const written = cacheWritesOf(usage, cacheWrite ?? 0);
  return {
    ...NO_TOKENS,
    inputTokens: input ?? 0,
    cachedInputTokens: cached ?? 0,
    cacheWriteTokens: written.tokens,
    outputTokens: output ?? 0,
    reasoningTokens: partOf(output ?? 0, thinking),
    parts: partsAboveZero({
      cache_write_1h: written.forAnHour,
      web_search: counterIn(objectIn(usage, 'server_tool_use'), 'web_search_requests'),
    }),
  };
}

/**
 * Splits cache writes by lifetime where the answer reports it; unattributed tokens count as the more expensive kind.
 */
function cacheWritesOf(usage: JsonObject | undefined, total: number): { tokens: number; forAnHour: number } {
  const split = objectIn(usage, 'cache_creation');
  const minutes = counterIn(split, 'ephemeral_5m_input_tokens');
  const hour = counterIn(split, 'ephemeral_1h_input_tokens');
  if (minutes === undefined && hour === undefined) return { tokens: total, forAnHour: 0 };
  const tokens = Math.max(total, (minutes ?? 0) + (hour ?? 0));
  return { tokens, forAnHour: partOf(tokens, hour === undefined ? 0 : tokens - (minutes ?? 0)) };
}

/** Whether this is the first event of a stream (`message_start`); its output count is near zero and not final. */
export function isAnthropicOpening(document: JsonObject): boolean {
  return objectIn(document, 'usage') === undefined && objectIn(objectIn(document, 'message'), 'usage') !== undefined;
}

/**
 * Calls of provider-run tools with a fee besides the tokens: the sum of their counters, zero for an explicit null,
 * undefined when absent.
 */
export function readAnthropicToolCalls(document: JsonObject): number | undefined {
  const usage = anthropicUsageOf(document);
  if (memberOf(usage, 'server_tool_use') === null) return 0;
  const calls = objectIn(usage, 'server_tool_use');
  const paid = calls && Object.keys(calls).filter((name) => !CALLS_WITHOUT_FEE.has(name));
  return paid?.reduce((sum, name) => sum + (counterIn(calls, name) ?? 0), 0);
}

/**
 * Merges the counts of two events of one stream. They are cumulative, so the larger one applies.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function mergeCumulative(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    ...NO_TOKENS,
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    cachedInputTokens: Math.max(one.cachedInputTokens, other.cachedInputTokens),
    cacheWriteTokens: Math.max(one.cacheWriteTokens, other.cacheWriteTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    reasoningTokens: Math.max(one.reasoningTokens, other.reasoningTokens),
    parts: largestParts(one.parts, other.parts),
  };
}
