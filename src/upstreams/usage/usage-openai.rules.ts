import { type JsonObject } from '../../common/json-object.js';
import type { ProviderType } from '../provider-types.js';
import { counterIn, firstCounterIn, measureIn, objectIn, partOf } from './json-fields.rules.js';
import { partsAboveZero, type TokenCounts } from './token-counts.js';
import {
  type KnownCounters,
  sumOfUnread,
  type UnknownMeasure,
  unreadCountersOf,
  unreadOutput,
} from './unread-counters.rules.js';

const INPUT = ['input_tokens', 'prompt_tokens'] as const;
const OUTPUT = ['output_tokens', 'completion_tokens'] as const;
/** Transcription answers use the singular spelling. */
const INPUT_DETAILS = ['input_tokens_details', 'prompt_tokens_details', 'input_token_details'] as const;
const OUTPUT_DETAILS = ['output_tokens_details', 'completion_tokens_details', 'output_token_details'] as const;

const CACHED_DETAILS = ['cached_tokens_details'] as const;
const NONE: readonly JsonObject[] = [];

/** Types whose totals include every generated token, also reasoning that their completion leaves out. */
const TOTALS_ARE_RIGHT: ReadonlySet<ProviderType> = new Set<ProviderType>(['xai', 'gemini']);

const KINDS: KnownCounters = { text_tokens: true, audio_tokens: true, image_tokens: true };
const KNOWN_INPUT: KnownCounters = {
  ...KINDS,
  cached_tokens: true,
  cache_write_tokens: true,
  cached_tokens_details: KINDS,
};
/** Predicted tokens are part of the completion, accepted or not. */
const KNOWN_OUTPUT: KnownCounters = {
  ...KINDS,
  ...{ reasoning_tokens: true, accepted_prediction_tokens: true, rejected_prediction_tokens: true },
};

/** Counters of this format that are read, or cost nothing: money, times, and parts of the prompt at the input rate. */
const KNOWN: KnownCounters = {
  ...{ input_tokens: true, prompt_tokens: true, output_tokens: true, completion_tokens: true, total_tokens: true },
  ...{ input_tokens_details: KNOWN_INPUT, prompt_tokens_details: KNOWN_INPUT, input_token_details: KNOWN_INPUT },
  ...{ output_tokens_details: KNOWN_OUTPUT, completion_tokens_details: KNOWN_OUTPUT },
  ...{ output_token_details: KNOWN_OUTPUT, reasoning_tokens: true, citation_tokens: true, prompt_audio_seconds: true },
  ...{ cached_tokens: true, num_cached_tokens: true, prompt_cache_hit_tokens: true, prompt_cache_miss_tokens: true },
  ...{ num_search_queries: true, num_sources_used: true, num_server_side_tools_used: true },
  ...{ server_side_tool_usage_details: true, cost: true, cost_details: true, cost_in_usd_ticks: true },
  ...{ queue_time: true, prompt_time: true, completion_time: true, total_time: true, market_cost: true },
  ...{ start_time: true, end_time: true, time_to_first_token: true, total_latency: true, acceptance_rate: true },
  ...{ completion_tokens_per_sec: true, total_tokens_per_sec: true },
};
/** Transcriptions count seconds as well. */
const KNOWN_OF_AUDIO: KnownCounters = { ...KNOWN, seconds: true };
/** What tools used; output items state further calls. */
const KNOWN_OF_TOOLS: KnownCounters = { web_search: { num_requests: true } };

/** The `usage` object of an answer or of a Responses stream event. */
export function openAiUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'response'), 'usage');
}

/**
 * Token counts of an OpenAI-format answer (Responses, Chat Completions, embeddings, images, transcription).
 *
 * @param type decides whether the total is trusted to include reasoning outside the completion.
 * @returns undefined when there is neither an input nor an output counter.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readOpenAiTokens(document: JsonObject, type?: ProviderType): TokenCounts | undefined {
  const usage = openAiUsageOf(document);
  const prompt = firstCounterIn(usage, INPUT);
  const stated = firstCounterIn(usage, OUTPUT);
  if (prompt === undefined && stated === undefined) return undefined;

  const inputDetails = objectsNamed(usage, INPUT_DETAILS);
  const outputDetails = objectsNamed(usage, OUTPUT_DETAILS);
  const reasoning = detail(outputDetails, 'reasoning_tokens');
  const isTotalRight = type !== undefined && TOTALS_ARE_RIGHT.has(type);
  const completion = isTotalRight ? totalOutputOf(usage, prompt ?? 0, stated ?? 0, reasoning) : (stated ?? 0);
  const cached =
    detail(inputDetails, 'cached_tokens') ||
    (counterIn(usage, 'cached_tokens') ?? 0) ||
    (counterIn(usage, 'prompt_cache_hit_tokens') ?? 0);
  const cacheWrite = detail(inputDetails, 'cache_write_tokens');
  const cachedDetails = cachedDetailsOf(inputDetails);
  const input = partOf(prompt ?? 0, (prompt ?? 0) - cached - cacheWrite);
  const extra = unsplitOutputOf(usage);
  const output = completion + extra.reasoning + extra.citations;
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
    reasoningTokens: partOf(output, reasoning || extra.reasoning),
    audioInputTokens: audioInput,
    audioCachedInputTokens: audioCached,
    audioOutputTokens: audioOutput,
    parts: partsAboveZero({
      cached_image_input: imageCached,
      image_input: imageInput,
      unknown_input: partOf(input - audioInput - imageInput, unexplained(prompt ?? 0, inputDetails)),
      text_output: partOf(notAudio, detail(outputDetails, 'text_tokens')),
      image_output: partOf(notAudio, detail(outputDetails, 'image_tokens')),
      unknown_output: partOf(notAudio, unexplained(completion, outputDetails)),
      reasoning_output: extra.reasoning,
      citation_output: extra.citations,
      audio_input_ms: milliseconds(measureIn(usage, 'prompt_audio_seconds')),
    }),
  };
}

/**
 * Generated tokens of a type whose totals are right, reasoning included: what the total leaves besides the prompt, and
 * no less than the completion. Reasoning above the completion is not part of it, because a part never exceeds its
 * whole.
 */
function totalOutputOf(usage: JsonObject | undefined, prompt: number, completion: number, reasoning: number): number {
  const byTotal = (counterIn(usage, 'total_tokens') ?? 0) - prompt;
  return Math.max(completion, byTotal, reasoning > completion ? completion + reasoning : 0);
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000);
}

/**
 * Counts of a document beyond the tokens read from it: unknown counters, and reasoning above the output.
 *
 * @param isAudio whether the document is a transcription.
 * Source: docs/reference/accounting.md#unknown-measures.
 */
export function unreadOfOpenAi(
  document: JsonObject,
  tokens: TokenCounts | undefined,
  isAudio: boolean,
): UnknownMeasure | undefined {
  const usage = openAiUsageOf(document);
  if (usage === undefined || tokens === undefined) return undefined;
  const toolUsage = objectIn(objectIn(document, 'response') ?? document, 'tool_usage');
  const unread = sumOfUnread(
    unreadCountersOf(usage, isAudio ? KNOWN_OF_AUDIO : KNOWN),
    toolUsage && unreadCountersOf(toolUsage, KNOWN_OF_TOOLS),
  );
  const reasoning = detail(objectsNamed(usage, OUTPUT_DETAILS), 'reasoning_tokens');
  return reasoning > tokens.outputTokens ? sumOfUnread(unread, unreadOutput(reasoning)) : unread;
}

/** The total that a document states, whatever it includes. */
export function totalTokensOfOpenAi(document: JsonObject): number | undefined {
  return counterIn(openAiUsageOf(document), 'total_tokens');
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
