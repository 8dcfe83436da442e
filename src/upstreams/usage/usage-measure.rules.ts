import type { ApiStyle } from '../api-style.rules.js';
import { type JsonObject, memberOf, objectIn } from './json-fields.rules.js';
import {
  anthropicUsageOf,
  isAnthropicOpening,
  mergeCumulative,
  readAnthropicTokens,
  readAnthropicToolCalls,
} from './usage-anthropic.rules.js';
import { readAudioSeconds } from './usage-audio.rules.js';
import { readGeminiTokens } from './usage-gemini.rules.js';
import { readOpenAiTokens, readOpenAiToolCalls } from './usage-openai.rules.js';
import type { TokenCounts } from './usage-reading.js';

type UsageFormat = 'openai' | 'anthropic' | 'gemini' | 'audio';

/** What one document or event says was used. */
export interface UsageMeasure {
  readonly format: UsageFormat;
  readonly tokens?: TokenCounts;
  readonly audioSeconds?: number;
  readonly hostedToolCalls?: number;
  /** The output goes on after this. */
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
 * Reads one JSON document or stream event in the format of the request's API style; only style `other` looks at the
 * answer to find the format out.
 *
 * @returns undefined when it has neither a counter nor a duration: unknown, not zero.
 * Source: contract-app 9.1, 9.2.
 */
export function measureOf(style: ApiStyle, document: JsonObject): UsageMeasure | undefined {
  const measure = readAs(FORMAT_OF_STYLE.get(style) ?? sniffedFormat(document), document);
  return measure.tokens === undefined && measure.audioSeconds === undefined ? undefined : measure;
}

/** Completes what a later event says with what an earlier one of the same answer says. */
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
  };
}

function readAs(format: UsageFormat, document: JsonObject): UsageMeasure {
  switch (format) {
    case 'openai':
      return { format, tokens: readOpenAiTokens(document), hostedToolCalls: readOpenAiToolCalls(document) };
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
