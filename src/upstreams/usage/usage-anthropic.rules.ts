import { type JsonObject } from '../../common/json-object.js';
import { counterFeeOf, toolFeeOf } from '../hosted-tools.rules.js';
import { counterIn, memberOf, objectIn, objectsIn, partOf, textIn } from './json-fields.rules.js';
import { largestParts, NO_TOKENS, partsAboveZero, type TokenCounts } from './token-counts.js';
import { type KnownCounters, sumOfUnread, type UnknownMeasure, unreadCountersOf } from './unread-counters.rules.js';

const COUNTERS = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'] as const;

const KNOWN_OF_ITERATION: KnownCounters = {
  ...{ input_tokens: true, cache_read_input_tokens: true, cache_creation_input_tokens: true, output_tokens: true },
  cache_creation: { ephemeral_5m_input_tokens: true, ephemeral_1h_input_tokens: true },
  output_tokens_details: { thinking_tokens: true },
};
/** Counters of this format that are read. Each counter of `server_tool_use` is one of calls. */
const KNOWN: KnownCounters = { ...KNOWN_OF_ITERATION, server_tool_use: true, iterations: KNOWN_OF_ITERATION };

/** Iterations of the answering model that its own counters include. */
const INCLUDED_ITERATION = 'message';
/** Iterations of the answering model that only the list has. */
const ADDED_ITERATION = 'compaction';
const MAX_TYPE_LENGTH = 64;
const TOOL_BLOCK = 'server_tool_use';
const NONE: readonly JsonObject[] = [];

/** The `usage` object of a message or of a stream event (`message_start` nests it in `message`). */
export function anthropicUsageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(document, 'usage') ?? objectIn(objectIn(document, 'message'), 'usage');
}

/** Token counts of a document or event, and what joining it with others needs. */
export interface AnthropicTokens {
  readonly tokens: TokenCounts;
  /** Cache writes of five minutes, where the answer splits them; undefined without a split. */
  readonly writesForMinutes: number | undefined;
}

/**
 * Token counts of a Messages answer or of one of its stream events. Iterations of the answering model that its counters
 * leave out are added.
 *
 * @returns undefined when all counters are absent.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readAnthropicTokens(document: JsonObject): AnthropicTokens | undefined {
  const usage = anthropicUsageOf(document);
  const own = tokensIn(usage);
  const included = iterationsOf(usage, INCLUDED_ITERATION);
  const added = iterationsOf(usage, ADDED_ITERATION);
  const answered = [own, sumOf(included)].flatMap((counts) => counts ?? []);
  const all = sumOf([...(answered.length === 0 ? [] : [answered.reduce(mergeCumulative)]), ...added]);
  if (all === undefined) return undefined;
  const { tokens, writesForMinutes } = all;
  const searches = counterIn(objectIn(usage, 'server_tool_use'), 'web_search_requests');
  const largest = added.length === 0 ? 0 : Math.max(...[...included, ...added].map(promptOf));
  const parts = partsAboveZero({ ...tokens.parts, web_search: searches, largest_prompt: largest });
  return { tokens: { ...tokens, parts }, writesForMinutes };
}

function iterationsOf(usage: JsonObject | undefined, type: string): AnthropicTokens[] {
  const iterations = objectsIn(usage, 'iterations') ?? NONE;
  return iterations.filter((entry) => typeOf(entry) === type).flatMap((entry) => tokensIn(entry) ?? []);
}

function typeOf(iteration: JsonObject): string | undefined {
  return textIn(iteration, 'type', MAX_TYPE_LENGTH);
}

/** Counts of one usage object or of one of its iterations. */
function tokensIn(usage: JsonObject | undefined): AnthropicTokens | undefined {
  const [input, cached, cacheWrite, output] = COUNTERS.map((name) => counterIn(usage, name));
  if (input === undefined && cached === undefined && cacheWrite === undefined && output === undefined) return undefined;
  const thinking = counterIn(objectIn(usage, 'output_tokens_details'), 'thinking_tokens') ?? 0;
  const { cacheWriteTokens, writesForMinutes } = cacheWritesOf(usage, cacheWrite ?? 0);
  const counts = {
    ...NO_TOKENS,
    cacheWriteTokens,
    inputTokens: input ?? 0,
    cachedInputTokens: cached ?? 0,
    outputTokens: output ?? 0,
    reasoningTokens: partOf(output ?? 0, thinking),
  };
  return withLongWrites(counts, writesForMinutes);
}

/** Writes that a split by lifetime does not cover count as the more expensive kind. */
function withLongWrites(tokens: TokenCounts, writesForMinutes: number | undefined): AnthropicTokens {
  const { cacheWriteTokens } = tokens;
  const long = writesForMinutes === undefined ? 0 : partOf(cacheWriteTokens, cacheWriteTokens - writesForMinutes);
  return { tokens: { ...tokens, parts: partsAboveZero({ ...tokens.parts, cache_write_1h: long }) }, writesForMinutes };
}

function cacheWritesOf(usage: JsonObject | undefined, total: number) {
  const split = objectIn(usage, 'cache_creation');
  const minutes = counterIn(split, 'ephemeral_5m_input_tokens');
  const hour = counterIn(split, 'ephemeral_1h_input_tokens');
  if (minutes === undefined && hour === undefined) return { cacheWriteTokens: total, writesForMinutes: undefined };
  const cacheWriteTokens = Math.max(total, (minutes ?? 0) + (hour ?? 0));
  // Without the hour's own counter, everything was written for five minutes.
  return { cacheWriteTokens, writesForMinutes: hour === undefined ? cacheWriteTokens : (minutes ?? 0) };
}

function promptOf({ tokens }: AnthropicTokens): number {
  return tokens.inputTokens + tokens.cachedInputTokens + tokens.cacheWriteTokens;
}

/** Adds up the counts of iterations. */
function sumOf(all: readonly AnthropicTokens[]): AnthropicTokens | undefined {
  return all.reduce<AnthropicTokens | undefined>(
    (one, other) => (one === undefined ? other : combined(one, other, (left, right) => left + right)),
    undefined,
  );
}

/**
 * What a document counts beyond the tokens that were read from it: unknown counters, and iterations of other models or
 * of unknown types.
 *
 * Source: docs/reference/accounting.md#unknown-measures.
 */
export function unreadOfAnthropic(document: JsonObject): UnknownMeasure | undefined {
  const usage = anthropicUsageOf(document);
  if (usage === undefined) return undefined;
  const others = (objectsIn(usage, 'iterations') ?? NONE).filter((entry) => {
    const type = typeOf(entry);
    return type !== INCLUDED_ITERATION && type !== ADDED_ITERATION;
  });
  const ofOthers = others.flatMap((entry) => tokensIn(entry) ?? []).map(unreadTokens);
  return ofOthers.reduce<UnknownMeasure | undefined>(sumOfUnread, unreadCountersOf(usage, KNOWN));
}

function unreadTokens(counts: AnthropicTokens): UnknownMeasure {
  return { inputTokens: promptOf(counts), outputTokens: counts.tokens.outputTokens, tokens: 0, hasOtherUnit: false };
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
  const paid = calls && Object.keys(calls).filter((name) => counterFeeOf(name) !== 'none');
  return paid?.reduce((sum, name) => sum + (counterIn(calls, name) ?? 0), 0);
}

/**
 * Merges the counts of two events of one stream. They are cumulative, so the larger one applies.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function mergeCumulative(one: AnthropicTokens, other: AnthropicTokens): AnthropicTokens {
  return combined(one, other, Math.max);
}

/**
 * Combines each count. Parts and totals may come from different events: cache writes that no split covers are then
 * known again.
 */
function combined(
  one: AnthropicTokens,
  other: AnthropicTokens,
  combine: (one: number, other: number) => number,
): AnthropicTokens {
  const of = (count: (tokens: TokenCounts) => number) => combine(count(one.tokens), count(other.tokens));
  const isSplit = one.writesForMinutes !== undefined || other.writesForMinutes !== undefined;
  const counts = {
    ...NO_TOKENS,
    inputTokens: of((tokens) => tokens.inputTokens),
    cachedInputTokens: of((tokens) => tokens.cachedInputTokens),
    cacheWriteTokens: of((tokens) => tokens.cacheWriteTokens),
    outputTokens: of((tokens) => tokens.outputTokens),
    reasoningTokens: of((tokens) => tokens.reasoningTokens),
    parts: largestParts(one.tokens.parts, other.tokens.parts),
  };
  const writesForMinutes = combine(one.writesForMinutes ?? 0, other.writesForMinutes ?? 0);
  return withLongWrites(counts, isSplit ? writesForMinutes : undefined);
}

/** Calls with a fee among the content blocks of an answer: `server_tool_use` blocks by the name of their tool. */
export function paidBlocksOf(blocks: Iterable<JsonObject>): { readonly webSearches: number; readonly others: number } {
  const count = { webSearches: 0, others: 0 };
  for (const block of blocks) {
    if (typeOf(block) !== TOOL_BLOCK) continue;
    const fee = toolFeeOf(textIn(block, 'name', MAX_TYPE_LENGTH) ?? '');
    if (fee === 'web_search') count.webSearches += 1;
    else if (fee !== 'none') count.others += 1;
  }
  return count;
}
