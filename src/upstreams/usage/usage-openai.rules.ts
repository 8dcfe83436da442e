import {
  counterIn,
  firstCounterIn,
  type JsonObject,
  objectIn,
  objectsIn,
  partOf,
  textIn,
} from './json-fields.rules.js';
import { partsAboveZero, type TokenCounts, type UsageParts } from './usage-reading.js';

const INPUT = ['input_tokens', 'prompt_tokens'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens'] as const;
/** Transcription answers use the singular spelling. */
const INPUT_DETAILS = ['input_tokens_details', 'prompt_tokens_details', 'input_token_details'] as const;
const OUTPUT_DETAILS = ['output_tokens_details', 'completion_tokens_details', 'output_token_details'] as const;

const CACHED_DETAILS = ['cached_tokens_details'] as const;
const NONE: readonly JsonObject[] = [];

const MAX_TYPE_LENGTH = 64;
const WEB_SEARCH = 'web_search_call';
const FILE_SEARCH = 'file_search_call';
const WEB_ACTIONS_WITHOUT_FEE: ReadonlySet<string> = new Set(['open_page', 'find', 'find_in_page']);
/** Calls that the client executes, or whose only cost is tokens. */
const CALLS_WITHOUT_FEE: ReadonlySet<string> = new Set([
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
  'mcp_call',
  'tool_search_call',
]);

/** The `usage` object of an answer or of a Responses stream event. */
export function openAiUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'response'), 'usage');
}

/**
 * Token counts of an OpenAI-format answer (Responses, Chat Completions, embeddings, images, transcription).
 *
 * @returns undefined when there is neither an input nor an output counter.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
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
  const cachedDetails = cachedDetailsOf(inputDetails);
  const input = partOf(prompt ?? 0, (prompt ?? 0) - cached - cacheWrite);
  const extra = unsplitOutputOf(usage);
  const output = (completion ?? 0) + extra.reasoning + extra.citations;
  const audioCached = partOf(cached, detail(cachedDetails, 'audio_tokens'));
  const imageCached = partOf(cached - audioCached, detail(cachedDetails, 'image_tokens'));
  const audioInput = partOf(input, lessCached(detail(inputDetails, 'audio_tokens'), audioCached));
  const imageInput = partOf(input - audioInput, lessCached(detail(inputDetails, 'image_tokens'), imageCached));
  const audioOutput = partOf(output, detail(outputDetails, 'audio_tokens'));
  const notAudio = output - audioOutput;
  return {
    inputTokens: input,
    cachedInputTokens: cached,
    cacheWriteTokens: cacheWrite,
    outputTokens: output,
    reasoningTokens: partOf(output, detail(outputDetails, 'reasoning_tokens') || extra.reasoning),
    audioInputTokens: audioInput,
    audioCachedInputTokens: audioCached,
    audioOutputTokens: audioOutput,
    parts: partsAboveZero({
      cached_image_input: imageCached,
      image_input: imageInput,
      unknown_input: partOf(input - audioInput - imageInput, unexplained(prompt ?? 0, inputDetails)),
      text_output: partOf(notAudio, detail(outputDetails, 'text_tokens')),
      image_output: partOf(notAudio, detail(outputDetails, 'image_tokens')),
      unknown_output: partOf(notAudio, unexplained(completion ?? 0, outputDetails)),
      reasoning_output: extra.reasoning,
      citation_output: extra.citations,
    }),
  };
}

/** A provider that bills citations counts them and its reasoning in addition to the completion. */
function unsplitOutputOf(usage: JsonObject | undefined): { reasoning: number; citations: number } {
  const citations = counterIn(usage, 'citation_tokens');
  return {
    reasoning: citations === undefined ? 0 : (counterIn(usage, 'reasoning_tokens') ?? 0),
    citations: citations ?? 0,
  };
}

function lessCached(ofKind: number, cached: number): number {
  return ofKind === Number.POSITIVE_INFINITY ? ofKind : ofKind - cached;
}

/** Tokens that a split by kind does not cover; none where text is not counted separately. */
function unexplained(total: number, details: readonly JsonObject[]): number {
  if (!details.some((group) => counterIn(group, 'text_tokens') !== undefined)) return 0;
  const kinds = ['text_tokens', 'audio_tokens', 'image_tokens'].map((name) => detail(details, name));
  return Math.max(0, total - kinds.reduce((sum, count) => sum + count, 0));
}

/** Calls of provider-run tools with their own fee. */
export interface ToolCalls {
  /** Number of calls with a fee; undefined when the answer does not state it. */
  readonly paid: number | undefined;
  /** The searches among them, and the context size of the search. */
  readonly parts: UsageParts | undefined;
}

/**
 * Counts calls from the output items of a Responses answer, else from the provider's counters.
 * Source: docs/reference/application-api.md#refused-members.
 */
export function readOpenAiToolCalls(document: JsonObject): ToolCalls {
  const usage = openAiUsageOf(document);
  const response = objectIn(document, 'response') ?? document;
  const items = objectsIn(response, 'output') ?? objectsIn(document, 'output');
  if (items === undefined) {
    const queries = counterIn(usage, 'num_search_queries');
    const paid = firstCounterIn(usage, ['num_server_side_tools_used', 'num_search_queries', 'num_sources_used']);
    return { paid, parts: partsAboveZero({ web_search: queries, ...contextOf(usage) }) };
  }
  const calls = items.map((item) => textIn(item, 'type', MAX_TYPE_LENGTH) ?? '').filter(isPaidCall);
  const counted = counterIn(objectIn(objectIn(response, 'tool_usage'), 'web_search'), 'num_requests');
  const webSearches = counted ?? items.filter(isWebSearch).length;
  const fileSearches = calls.filter((type) => type === FILE_SEARCH).length;
  const others = calls.filter((type) => type !== WEB_SEARCH && type !== FILE_SEARCH).length;
  return {
    paid: webSearches + fileSearches + others,
    parts: partsAboveZero({ web_search: webSearches, file_search: fileSearches, ...contextOf(usage) }),
  };
}

/** Opening a page and finding text in it cost only tokens. */
function isWebSearch(item: JsonObject): boolean {
  if (textIn(item, 'type', MAX_TYPE_LENGTH) !== WEB_SEARCH) return false;
  const action = textIn(objectIn(item, 'action'), 'type', MAX_TYPE_LENGTH);
  return action === undefined || !WEB_ACTIONS_WITHOUT_FEE.has(action);
}

function contextOf(usage: JsonObject | undefined): UsageParts {
  const size = textIn(usage, 'search_context_size', MAX_TYPE_LENGTH);
  if (size === 'low') return { low_context_search: 1 };
  return size === 'medium' ? { medium_context_search: 1 } : {};
}

function isPaidCall(type: string): boolean {
  return type.endsWith('_call') && !CALLS_WITHOUT_FEE.has(type);
}

/** The objects among several members, in the order of the names; most answers have at most one. */
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

/** The first non-zero counter of this name. */
function detail(groups: readonly JsonObject[], name: string): number {
  for (const group of groups) {
    const counter = counterIn(group, name);
    if (counter) return counter;
  }
  return 0;
}
