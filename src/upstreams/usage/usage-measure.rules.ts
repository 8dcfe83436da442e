import { type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import type { ProviderType } from '../provider-types.js';
import { dearestTier, isOtherTier, readAudioSeconds, surchargeIn, tierNamedIn } from './answer-facts.rules.js';
import { MOST_OF_ANYTHING, memberOf, objectIn } from './json-fields.rules.js';
import { paidCallsOf, readOpenAiToolCalls } from './openai-tool-calls.rules.js';
import { joinSides } from './stream-counts.rules.js';
import { partsAboveZero, type TokenCounts } from './token-counts.js';
import { largestUnread, type UnknownMeasure, withExcess } from './unread-counters.rules.js';
import {
  anthropicUsageOf,
  isAnthropicOpening,
  mergeCumulative,
  paidBlocksOf,
  readAnthropicTokens,
  readAnthropicToolCalls,
  unreadOfAnthropic,
} from './usage-anthropic.rules.js';
import { readGeminiTokens, totalTokensOfGemini, unreadOfGemini } from './usage-gemini.rules.js';
import {
  countedToolCalls,
  isInteractionOpening,
  readInteractionTokens,
  totalTokensOfInteraction,
  unreadOfInteraction,
} from './usage-interactions.rules.js';
import { readOpenAiTokens, totalTokensOfOpenAi, unreadOfOpenAi } from './usage-openai.rules.js';

type UsageFormat = 'openai' | 'anthropic' | 'gemini' | 'interactions' | 'audio';

/** Usage stated by one document or event. */
export interface UsageMeasure {
  readonly format: UsageFormat;
  readonly tokens?: TokenCounts | undefined;
  readonly audioSeconds?: number;
  readonly hostedToolCalls?: number | undefined;
  /** Whether the provider states the number of calls that it bills. */
  readonly countsCalls?: boolean;
  /** Anthropic's cache writes of five minutes; undefined without a split by lifetime. */
  readonly writesForMinutes?: number | undefined;
  /** The total of all tokens, as the answer states it. */
  readonly totalTokens?: number | undefined;
  /** What no reader knows. */
  readonly unknown?: UnknownMeasure | undefined;
  /** The service tier that is named, also the standard one. */
  readonly tier?: string | undefined;
  /** A speed or inference location that may have a surcharge. */
  readonly surcharge?: string | undefined;
  /** First event of a stream; the output count is not final. */
  readonly isOpening?: boolean;
}

const FORMAT_OF_STYLE: ReadonlyMap<ApiStyle, UsageFormat> = new Map([
  ['responses', 'openai'],
  ['chat_completions', 'openai'],
  ['anthropic_messages', 'anthropic'],
  ['gemini_native', 'gemini'],
  ['gemini_interactions', 'interactions'],
  ['audio_transcription', 'audio'],
]);

/**
 * Reads one JSON document or stream event in the format of the request's API style. Only style `other` detects the
 * format from the answer.
 *
 * @param type decides how far totals are trusted; undefined: not.
 * @returns undefined without a counter or duration: unknown, not zero.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function measureOf(style: ApiStyle, document: JsonObject, type?: ProviderType): UsageMeasure | undefined {
  const measure = readAs(FORMAT_OF_STYLE.get(style) ?? sniffedFormat(document), document, type);
  if (measure.tokens === undefined && measure.audioSeconds === undefined) return undefined;
  return { ...measure, tier: tierNamedIn(document), surcharge: surchargeIn(document) };
}

/** Merges a later event with an earlier one of the same answer; the later one takes precedence. */
export function joinMeasures(later: UsageMeasure, earlier: UsageMeasure): UsageMeasure {
  return {
    format: later.format,
    ...joinTokens(later, earlier),
    audioSeconds: later.audioSeconds ?? earlier.audioSeconds,
    hostedToolCalls: later.hostedToolCalls ?? earlier.hostedToolCalls,
    countsCalls: later.countsCalls || (later.hostedToolCalls === undefined && earlier.countsCalls === true),
    totalTokens: later.totalTokens ?? earlier.totalTokens,
    unknown: largestUnread(later.unknown, earlier.unknown),
    isOpening: later.isOpening,
    // The first event may repeat what the request selects; what served it is known later.
    tier: later.tier ?? earlier.tier,
    surcharge: dearestTier([later.surcharge, earlier.surcharge]),
  };
}

/** What served the answer, where it may cost another amount than the standard tier; of two such facts the dearer. */
export function otherTierOf({ tier, surcharge }: Pick<UsageMeasure, 'tier' | 'surcharge'>): string | undefined {
  return dearestTier([isOtherTier(tier) ? tier : undefined, surcharge]);
}

function joinTokens(later: UsageMeasure, earlier: UsageMeasure): Pick<UsageMeasure, 'tokens' | 'writesForMinutes'> {
  if (later.tokens === undefined || earlier.tokens === undefined) return { tokens: later.tokens ?? earlier.tokens };
  if (later.format !== 'anthropic' || earlier.format !== 'anthropic') {
    return { tokens: joinSides(later.tokens, earlier.tokens) };
  }
  return mergeCumulative(
    { tokens: later.tokens, writesForMinutes: later.writesForMinutes },
    { tokens: earlier.tokens, writesForMinutes: earlier.writesForMinutes },
  );
}

/** Adds the tokens of a total above its parts to what no reader knows. */
export function withUnexplained(measure: UsageMeasure): UsageMeasure {
  const { tokens, totalTokens, unknown } = measure;
  // The total of an answer with audio seconds has tokens for the audio, which is priced by its length.
  if (tokens === undefined || totalTokens === undefined || tokens.parts?.audio_input_ms !== undefined) return measure;
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = tokens;
  const excess = totalTokens - inputTokens - cachedInputTokens - cacheWriteTokens - outputTokens;
  return excess > 0 ? { ...measure, unknown: withExcess(unknown, excess) } : measure;
}

/**
 * Adds the tool calls that the events of a stream, or the content of a document, show as items. What the provider
 * counts as billed takes precedence.
 *
 * @param items output items or content blocks, without their contents.
 * Source: docs/reference/accounting.md#tools-of-providers.
 */
export function withItems(measure: UsageMeasure, items: readonly JsonObject[]): UsageMeasure {
  const { tokens, hostedToolCalls, countsCalls } = measure;
  if (items.length === 0 || tokens === undefined) return measure;
  const ofItems = paidCallsOf(items);
  const blocks = paidBlocksOf(items);
  const { web_search: web = 0, file_search: files = 0 } = tokens.parts ?? {};
  const others = Math.max(0, (hostedToolCalls ?? 0) - web - files);
  const webSearches = countsCalls ? web : Math.max(web, ofItems.webSearches + blocks.webSearches);
  const fileSearches = Math.max(files, ofItems.fileSearches);
  const isAnthropic = measure.format === 'anthropic';
  const unpriced = isAnthropic && countsCalls ? others : Math.max(others, ofItems.others + blocks.others);
  const parts = partsAboveZero({ ...tokens.parts, web_search: webSearches, file_search: fileSearches });
  const calls = webSearches + fileSearches + unpriced;
  if (calls === 0 && hostedToolCalls === undefined) return measure;
  return { ...measure, tokens: { ...tokens, parts }, hostedToolCalls: calls };
}

/**
 * Whether every number is possible for one answer. A counter above the limit is infinite, and so are the values derived
 * from it.
 */
export function isPlausible({ tokens, audioSeconds = 0, hostedToolCalls = 0, unknown }: UsageMeasure): boolean {
  return (
    audioSeconds <= MOST_OF_ANYTHING &&
    Number.isFinite(hostedToolCalls) &&
    (unknown === undefined || Object.values(unknown).every(isPlausibleCount)) &&
    (tokens === undefined || Object.values(tokens).every(isPlausibleCount)) &&
    (tokens?.parts === undefined || Object.values(tokens.parts).every(isPlausibleCount))
  );
}

const isPlausibleCount = (count: unknown) => typeof count !== 'number' || Number.isFinite(count);

function readAs(format: UsageFormat, document: JsonObject, type: ProviderType | undefined): UsageMeasure {
  switch (format) {
    case 'openai':
      return readOpenAi(document, type);
    case 'anthropic':
      return readAnthropic(document);
    case 'gemini': {
      const tokens = readGeminiTokens(document);
      return { format, tokens, totalTokens: totalTokensOfGemini(document), unknown: unreadOfGemini(document) };
    }
    case 'interactions':
      return readInteraction(document);
    case 'audio': {
      const tokens = readOpenAiTokens(document, type);
      const unknown = unreadOfOpenAi(document, tokens, true);
      const totalTokens = totalTokensOfOpenAi(document);
      return { format, tokens, audioSeconds: readAudioSeconds(document), totalTokens, unknown };
    }
  }
}

function readOpenAi(document: JsonObject, type: ProviderType | undefined): UsageMeasure {
  const tokens = readOpenAiTokens(document, type);
  const { paid, parts, isBilled } = readOpenAiToolCalls(document);
  const all = parts === undefined ? tokens?.parts : partsAboveZero({ ...tokens?.parts, ...parts });
  return {
    format: 'openai',
    tokens: tokens && { ...tokens, parts: all },
    hostedToolCalls: paid,
    countsCalls: isBilled,
    totalTokens: totalTokensOfOpenAi(document),
    unknown: unreadOfOpenAi(document, tokens, false),
  };
}

function readAnthropic(document: JsonObject): UsageMeasure {
  const isOpening = isAnthropicOpening(document);
  const hostedToolCalls = readAnthropicToolCalls(document);
  const countsCalls = hostedToolCalls !== undefined && !isOpening;
  const unknown = unreadOfAnthropic(document);
  return { format: 'anthropic', ...readAnthropicTokens(document), hostedToolCalls, countsCalls, unknown, isOpening };
}

function readInteraction(document: JsonObject): UsageMeasure {
  return {
    format: 'interactions',
    ...countedToolCalls(document),
    tokens: readInteractionTokens(document),
    totalTokens: totalTokensOfInteraction(document),
    unknown: unreadOfInteraction(document),
    isOpening: isInteractionOpening(document),
  };
}

function sniffedFormat(document: JsonObject): UsageFormat {
  if (objectIn(document, 'usageMetadata') !== undefined) return 'gemini';
  if (looksLikeAnthropic(document)) return 'anthropic';
  const timed = memberOf(objectIn(document, 'usage'), 'type') === 'duration';
  return timed || typeof memberOf(document, 'duration') === 'number' ? 'audio' : 'openai';
}

function looksLikeAnthropic(document: JsonObject): boolean {
  const type = memberOf(document, 'type');
  if (typeof type === 'string' && type.startsWith('message_')) return true;
  if (objectIn(objectIn(document, 'message'), 'usage') !== undefined) return true;
  const usage = anthropicUsageOf(document);
  return (
    memberOf(usage, 'cache_read_input_tokens') !== undefined ||
    memberOf(usage, 'cache_creation_input_tokens') !== undefined
  );
}
