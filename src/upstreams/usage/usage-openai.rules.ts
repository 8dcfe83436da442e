import { counterIn, firstCounterIn, type JsonObject, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import type { TokenCounts } from './usage-reading.js';

const INPUT = ['input_tokens', 'prompt_tokens'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens'] as const;
/** The singular spelling is that of transcription answers. */
const INPUT_DETAILS = ['input_tokens_details', 'prompt_tokens_details', 'input_token_details'] as const;
const OUTPUT_DETAILS = ['output_tokens_details', 'completion_tokens_details', 'output_token_details'] as const;

const CACHED_DETAILS = ['cached_tokens_details'] as const;
const NONE: readonly JsonObject[] = [];

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

  const inputDetails = objectsNamed(usage, INPUT_DETAILS);
  const outputDetails = objectsNamed(usage, OUTPUT_DETAILS);
  const cached =
    detail(inputDetails, 'cached_tokens') ||
    (counterIn(usage, 'cached_tokens') ?? 0) ||
    (counterIn(usage, 'prompt_cache_hit_tokens') ?? 0);
  const cacheWrite = detail(inputDetails, 'cache_write_tokens');
  const input = Math.max(0, (prompt ?? 0) - cached - cacheWrite);
  const output = completion ?? 0;
  const audioCached = Math.min(cached, detail(cachedDetailsOf(inputDetails), 'audio_tokens'));
  return {
    inputTokens: input,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: Math.min(output, detail(outputDetails, 'reasoning_tokens')),
    audioInputTokens: Math.min(input, Math.max(0, detail(inputDetails, 'audio_tokens') - audioCached)),
    audioCachedInputTokens: audioCached,
    audioOutputTokens: Math.min(output, detail(outputDetails, 'audio_tokens')),
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

/** The objects among several members, in the order of the names; most answers have one at most. */
function objectsNamed(parent: JsonObject | undefined, names: readonly string[]): readonly JsonObject[] {
  let found: JsonObject[] | undefined;
  for (const name of names) {
    const member = objectIn(parent, name);
    if (member === undefined) continue;
    found ??= [];
    found.push(member);
  }
  return found ?? NONE;
}

function cachedDetailsOf(inputDetails: readonly JsonObject[]): readonly JsonObject[] {
  return inputDetails.length === 0 ? NONE : inputDetails.flatMap((group) => objectsNamed(group, CACHED_DETAILS));
}

/** The first counter of this name that is not zero. */
function detail(groups: readonly JsonObject[], name: string): number {
  for (const group of groups) {
    const counter = counterIn(group, name);
    if (counter) return counter;
  }
  return 0;
}
