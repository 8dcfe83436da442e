import { counterIn, firstCounterIn, type JsonObject, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import type { TokenCounts } from './usage-reading.js';

const INPUT = ['input_tokens', 'prompt_tokens'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens'] as const;
/** The singular spelling is that of transcription answers. */
const INPUT_DETAILS = ['input_tokens_details', 'prompt_tokens_details', 'input_token_details'] as const;
const OUTPUT_DETAILS = ['output_tokens_details', 'completion_tokens_details', 'output_token_details'] as const;

const MAX_TYPE_LENGTH = 64;
/** Calls the client answers itself, or that cost nothing but tokens. */
const CALLS_WITHOUT_FEE: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
  'mcp_call',
  'tool_search_call',
]);

/** The `usage` object of an answer or of a Responses stream event; undefined when there is none. */
export function openAiUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'response'), 'usage');
}

/**
 * Token counts of an OpenAI-format answer (Responses, Chat Completions, embeddings, images, transcription).
 *
 * @returns undefined when neither an input nor an output counter is there.
 * Source: contract-app 9.2.
 */
export function readOpenAiTokens(document: JsonObject): TokenCounts | undefined {
  const usage = openAiUsageOf(document);
  const prompt = firstCounterIn(usage, INPUT);
  const completion = firstCounterIn(usage, OUTPUT);
  if (prompt === undefined && completion === undefined) return undefined;

  const cached = firstNonZero([
    detail(usage, INPUT_DETAILS, 'cached_tokens'),
    counterIn(usage, 'cached_tokens') ?? 0,
    counterIn(usage, 'prompt_cache_hit_tokens') ?? 0,
  ]);
  const cacheWrite = detail(usage, INPUT_DETAILS, 'cache_write_tokens');
  const input = Math.max(0, (prompt ?? 0) - cached - cacheWrite);
  const output = completion ?? 0;
  const audioCached = Math.min(cached, cachedAudio(usage));
  return {
    inputTokens: input,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: Math.min(output, detail(usage, OUTPUT_DETAILS, 'reasoning_tokens')),
    audioInputTokens: Math.min(input, Math.max(0, detail(usage, INPUT_DETAILS, 'audio_tokens') - audioCached)),
    audioCachedInputTokens: audioCached,
    audioOutputTokens: Math.min(output, detail(usage, OUTPUT_DETAILS, 'audio_tokens')),
  };
}

/**
 * Calls of provider-run tools with a fee of their own: the output items of a Responses answer, else the provider's
 * counters. Undefined when the answer does not say. Source: decision 3.6.
 */
export function readOpenAiToolCalls(document: JsonObject): number | undefined {
  const output = objectsIn(document, 'output') ?? objectsIn(objectIn(document, 'response'), 'output');
  if (output !== undefined) return output.filter(isPaidCall).length;
  return firstCounterIn(openAiUsageOf(document), ['num_server_side_tools_used', 'num_search_queries']);
}

function isPaidCall(item: JsonObject): boolean {
  const type = textIn(item, 'type', MAX_TYPE_LENGTH);
  return type?.endsWith('_call') === true && !CALLS_WITHOUT_FEE.has(type);
}

function detail(usage: JsonObject | undefined, groups: readonly string[], name: string): number {
  return firstNonZero(groups.map((group) => counterIn(objectIn(usage, group), name) ?? 0));
}

function cachedAudio(usage: JsonObject | undefined): number {
  return firstNonZero(
    INPUT_DETAILS.map(
      (group) => counterIn(objectIn(objectIn(usage, group), 'cached_tokens_details'), 'audio_tokens') ?? 0,
    ),
  );
}

function firstNonZero(counters: readonly number[]): number {
  return counters.find((counter) => counter > 0) ?? 0;
}
