import { counterIn, type JsonObject, memberOf, objectIn } from './json-fields.rules.js';
import { NO_TOKENS, type TokenCounts } from './usage-reading.js';

const COUNTERS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const;

/** The `usage` object of a message, or of a stream event (`message_start` wraps it in the message). */
export function anthropicUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'message'), 'usage');
}

/**
 * Token counts of a Messages answer or of one of its stream events.
 *
 * @returns undefined when none of the four counters is there.
 * Source: contract-app 9.2.
 */
export function readAnthropicTokens(document: JsonObject): TokenCounts | undefined {
  const usage = anthropicUsageOf(document);
  const [input, cached, cacheWrite, output] = COUNTERS.map((name) => counterIn(usage, name));
  if (input === undefined && cached === undefined && cacheWrite === undefined && output === undefined) return undefined;
  const thinking = counterIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') ?? 0;
  return {
    ...NO_TOKENS,
    inputTokens: input ?? 0,
    cachedInputTokens: cached ?? 0,
    cacheWriteTokens: cacheWrite ?? 0,
    outputTokens: output ?? 0,
    reasoningTokens: Math.min(output ?? 0, thinking),
  };
}

/** Calls of provider-run tools: the sum of their counters, zero for an explicit null, undefined when absent. */
export function readAnthropicToolCalls(document: JsonObject): number | undefined {
  const usage = anthropicUsageOf(document);
  if (memberOf(usage, 'server_tool_use') === null) return 0;
  const calls = objectIn(usage, 'server_tool_use');
  return calls && Object.keys(calls).reduce((sum, name) => sum + (counterIn(calls, name) ?? 0), 0);
}

/**
 * Joins what two events of one stream say: their counts are cumulative, so the larger one holds.
 * Source: contract-app 9.2.
 */
export function mergeCumulative(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    ...NO_TOKENS,
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    cachedInputTokens: Math.max(one.cachedInputTokens, other.cachedInputTokens),
    cacheWriteTokens: Math.max(one.cacheWriteTokens, other.cacheWriteTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    reasoningTokens: Math.max(one.reasoningTokens, other.reasoningTokens),
  };
}
