import type { ApiStyle } from '../api-style.rules.js';
import { otherTierOf, readAudioSeconds } from './answer-facts.rules.js';
import { type JsonObject, MOST_OF_ANYTHING, memberOf, objectIn } from './json-fields.rules.js';
import {
  anthropicUsageOf,
  isAnthropicOpening,
  mergeCumulative,
  readAnthropicTokens,
  readAnthropicToolCalls,
} from './usage-anthropic.rules.js';
import { readGeminiTokens } from './usage-gemini.rules.js';
import { readOpenAiTokens, readOpenAiToolCalls } from './usage-openai.rules.js';
import { partsAboveZero, type TokenCounts } from './usage-reading.js';

type UsageFormat = 'openai' | 'anthropic' | 'gemini' | 'audio';

/** Usage stated by one document or event. */
export interface UsageMeasure {
  readonly format: UsageFormat;
  readonly tokens?: TokenCounts | undefined;
  readonly audioSeconds?: number;
  readonly hostedToolCalls?: number | undefined;
  /** The service tier, where it is not the standard one. */
  readonly otherTier?: string | undefined;
  /** First event of a stream; the output count is not final. */
  readonly isOpening?: boolean;
}

const FORMAT_OF_STYLE: ReadonlyMap<ApiStyle, UsageFormat> = new Map([
  ['responses', 'openai'],
  ['chat_completions', 'openai'],
  ['anthropic_messages', 'anthropic'],
  ['gemini_native', 'gemini'],
  ['audio_transcription', 'audio'],
]);

/**
 * Reads one JSON document or stream event in the format of the request's API style. Only style `other` detects the
 * format from the answer.
 *
 * @returns undefined without a counter or duration: unknown, not zero.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function measureOf(style: ApiStyle, document: JsonObject): UsageMeasure | undefined {
  const measure = readAs(FORMAT_OF_STYLE.get(style) ?? sniffedFormat(document), document);
  if (measure.tokens === undefined && measure.audioSeconds === undefined) return undefined;
  const otherTier = otherTierOf(document);
  return otherTier === undefined ? measure : { ...measure, otherTier };
}

/** Merges a later event with an earlier one of the same answer; the later one takes precedence. */
export function joinMeasures(later: UsageMeasure, earlier: UsageMeasure): UsageMeasure {
  const cumulative = later.format === 'anthropic' && earlier.format === 'anthropic';
  return {
    format: later.format,
    tokens:
      cumulative && later.tokens && earlier.tokens
        ? mergeCumulative(later.tokens, earlier.tokens)
        : (later.tokens ?? earlier.tokens),
    audioSeconds: later.audioSeconds ?? earlier.audioSeconds,
    hostedToolCalls: later.hostedToolCalls ?? earlier.hostedToolCalls,
    isOpening: later.isOpening,
    otherTier: later.otherTier ?? earlier.otherTier,
  };
}

/**
 * Whether every number is possible for one answer. A counter above the limit is infinite, and so are the values derived
 * from it.
 */
export function isPlausible({ tokens, audioSeconds = 0, hostedToolCalls = 0 }: UsageMeasure): boolean {
  return (
    audioSeconds <= MOST_OF_ANYTHING &&
    Number.isFinite(hostedToolCalls) &&
    (tokens === undefined || Object.values(tokens).every(isPlausibleCount)) &&
    (tokens?.parts === undefined || Object.values(tokens.parts).every(isPlausibleCount))
  );
}

const isPlausibleCount = (count: unknown) => typeof count !== 'number' || Number.isFinite(count);

function readAs(format: UsageFormat, document: JsonObject): UsageMeasure {
  switch (format) {
    case 'openai':
      return readOpenAi(document);
    case 'anthropic':
      return {
        ...{ format, tokens: readAnthropicTokens(document), hostedToolCalls: readAnthropicToolCalls(document) },
        isOpening: isAnthropicOpening(document),
      };
    case 'gemini':
      return { format, tokens: readGeminiTokens(document) };
    case 'audio':
      return { format, tokens: readOpenAiTokens(document), audioSeconds: readAudioSeconds(document) };
  }
}

function readOpenAi(document: JsonObject): UsageMeasure {
  const tokens = readOpenAiTokens(document);
  const { paid, parts } = readOpenAiToolCalls(document);
  if (tokens === undefined || parts === undefined) return { format: 'openai', tokens, hostedToolCalls: paid };
  const all = partsAboveZero({ ...tokens.parts, ...parts });
  return { format: 'openai', tokens: { ...tokens, parts: all }, hostedToolCalls: paid };
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
