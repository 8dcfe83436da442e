import { type JsonObject } from '../../common/json-object.js';
import { geminiToolName, itemTypeOfStep, toolFeeOf } from '../hosted-tools.rules.js';
import { counterIn, memberOf, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import { partsAboveZero, type TokenCounts, type UsageParts } from './token-counts.js';
import { type KnownCounters, type UnknownMeasure, unreadCountersOf } from './unread-counters.rules.js';
import { splitByModality, tokensOfGemini } from './usage-gemini.rules.js';

const COUNTERS = [
  ...['total_input_tokens', 'total_cached_tokens', 'total_output_tokens', 'total_thought_tokens'],
  'total_tool_use_tokens',
] as const;

const DETAIL: KnownCounters = { tokens: true };
/** Counters of this format that are read; those of the first turn are part of the others. */
const KNOWN: KnownCounters = {
  ...{ total_input_tokens: true, total_cached_tokens: true, total_output_tokens: true, total_thought_tokens: true },
  ...{ total_tool_use_tokens: true, total_tokens: true, initial_input_tokens: true, grounding_tool_count: true },
  ...{ input_tokens_by_modality: DETAIL, cached_tokens_by_modality: DETAIL, output_tokens_by_modality: DETAIL },
  tool_use_tokens_by_modality: DETAIL,
};

const MAX_TEXT_LENGTH = 64;
/** Events that end an interaction, or a request to it, with its usage; that of others may grow. */
const LAST_EVENT = /^interaction\./;
const UNFINISHED: ReadonlySet<unknown> = new Set(['in_progress', 'queued']);

/** The interaction of a stream event, else the document itself. */
function interactionOf(document: JsonObject): JsonObject {
  return objectIn(document, 'interaction') ?? document;
}

function usageOf(document: JsonObject): JsonObject | undefined {
  return objectIn(interactionOf(document), 'usage') ?? objectIn(document, 'usage');
}

/**
 * Token counts of an interaction or of one of its stream events. Cached tokens are part of the input. Thoughts are
 * generated tokens beside the output, unless the total shows that the output includes them.
 *
 * @returns undefined when the usage has none of the five counters.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readInteractionTokens(document: JsonObject): TokenCounts | undefined {
  const usage = usageOf(document);
  const counts = COUNTERS.map((name) => counterIn(usage, name));
  if (counts.every((count) => count === undefined)) return undefined;
  const [prompt = 0, cached = 0, output = 0, thoughts = 0, toolUse = 0] = counts;
  const includesThoughts = thoughts <= output && counterIn(usage, 'total_tokens') === prompt + output + toolUse;
  const split = (list: string) => splitByModality(objectsIn(usage, list), 'tokens');
  const tokens = tokensOfGemini(
    { prompt, cached, thoughts, toolUse, candidates: includesThoughts ? output - thoughts : output },
    {
      ofPrompt: split('input_tokens_by_modality'),
      ofCache: split('cached_tokens_by_modality'),
      ofOutput: split('output_tokens_by_modality'),
    },
  );
  return { ...tokens, parts: partsAboveZero({ ...tokens.parts, ...searchesOf(usage) }) };
}

/** What a document counts beyond what was read from it. Source: docs/reference/accounting.md#unknown-measures. */
export function unreadOfInteraction(document: JsonObject): UnknownMeasure | undefined {
  const usage = usageOf(document);
  return usage && unreadCountersOf(usage, KNOWN);
}

/** The total that a document states, whatever it includes. */
export function totalTokensOfInteraction(document: JsonObject): number | undefined {
  return counterIn(usageOf(document), 'total_tokens');
}

/** Whether the usage of a document may still grow: it is not that of the end of an interaction. */
export function isInteractionOpening(document: JsonObject): boolean {
  const event = memberOf(document, 'event_type');
  const isEarly = event !== undefined && !LAST_EVENT.test(String(event));
  return isEarly || UNFINISHED.has(memberOf(interactionOf(document), 'status'));
}

interface ToolCallCount {
  /** Undefined where neither a count nor steps are known. */
  readonly hostedToolCalls: number | undefined;
  readonly countsCalls: boolean;
}

/**
 * Calls with a fee, as the provider counts them. Without its count they are those of the steps, which a whole
 * interaction lists and a stream shows up to its last event.
 * Source: docs/reference/accounting.md#tools-of-providers.
 */
export function countedToolCalls(document: JsonObject): ToolCallCount {
  const counts = groundingCounts(usageOf(document));
  if (counts === undefined) return { hostedToolCalls: showsSteps(document) ? 0 : undefined, countsCalls: false };
  const hostedToolCalls = counts.reduce((sum, { fee, count }) => (fee === 'none' ? sum : sum + count), 0);
  return { hostedToolCalls, countsCalls: true };
}

function showsSteps(document: JsonObject): boolean {
  return memberOf(document, 'event_type') !== undefined || objectsIn(document, 'steps') !== undefined;
}

/** The steps of a whole interaction that call tools, as output items. Streams show them in events of their own. */
export function toolStepsOf(document: JsonObject): JsonObject[] {
  return (objectsIn(document, 'steps') ?? []).flatMap((step) => {
    const type = textIn(step, 'type', MAX_TEXT_LENGTH);
    return type === undefined ? [] : [{ type: itemTypeOfStep(type) }];
  });
}

function searchesOf(usage: JsonObject | undefined): UsageParts {
  const counts = groundingCounts(usage) ?? [];
  const sumOf = (wanted: string) => counts.reduce((sum, { fee, count }) => (fee === wanted ? sum + count : sum), 0);
  return { web_search: sumOf('web_search'), file_search: sumOf('file_search') };
}

function groundingCounts(usage: JsonObject | undefined) {
  return objectsIn(usage, 'grounding_tool_count')?.map((entry) => ({
    fee: toolFeeOf(geminiToolName(textIn(entry, 'type', MAX_TEXT_LENGTH) ?? '')),
    count: counterIn(entry, 'count') ?? 0,
  }));
}
