import type { ApiStyle, CapStyle } from './api-style.rules.js';
import type { ProviderDialect } from './provider-dialect.js';

/** Endings of text-generation paths without an API style; their bodies use the members of the mapped style. */
const CAP_STYLE_OF_ENDING: ReadonlyMap<string, CapStyle> = new Map([
  ['completions', 'chat_completions'],
  ['responses', 'responses'],
  ['agent', 'responses'],
  ['messages', 'anthropic'],
]);

/**
 * Returns the ceiling members of a default path without an API style: those of its body where it generates text, `none`
 * for embeddings, images and speech.
 * Source: docs/reference/application-api.md#allowed-paths.
 */
export function capStyleOfExtraPath(path: string): CapStyle {
  return CAP_STYLE_OF_ENDING.get(path.slice(path.lastIndexOf('/') + 1)) ?? 'none';
}

/**
 * Path segments, and actions after a colon, of requests that generate no text: embeddings, counting, moderation,
 * ranking, images, speech. Providers reject or misread a ceiling there.
 */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  ...['embeddings', 'embed', 'contextualizedembeddings', 'multimodalembeddings'],
  ...['embedContent', 'embedText', 'batchEmbedContents', 'batchEmbedText', 'asyncBatchEmbedContent'],
  ...['count_tokens', 'input_tokens', 'tokenize', 'tokenize-text', 'detokenize'],
  ...['countTokens', 'countTextTokens', 'countMessageTokens', 'computeTokens'],
  ...['moderations', 'classifications', 'classify', 'rerank', 'reranking', 'score'],
  ...['images', 'image-generations', 'videos', 'video', 'predict', 'predictLongRunning'],
  ...['audio', 'speech', 'tts', 'stt', 'transcriptions', 'translations', 'ocr', 'search'],
]);

const SEGMENTS = /[/:]/;

/**
 * Whether a path without an API style is known to generate no text. An unknown path may generate text, so it gets a
 * ceiling.
 */
function generatesNoText(path: string): boolean {
  return path.split(SEGMENTS).some((segment) => WITHOUT_TEXT.has(segment));
}

const CAP_STYLE_OF_API: Readonly<Record<ApiStyle, CapStyle | undefined>> = {
  responses: 'responses',
  chat_completions: 'chat_completions',
  // A Messages body has the same members at every provider type.
  anthropic_messages: 'anthropic',
  gemini_native: 'gemini_native',
  audio_transcription: 'none',
  other: undefined,
};

/**
 * Determines which members hold the output ceiling of a request. Precedence: the `clamp` of the matched policy entry;
 * the API style; the ending of a text-generation path; `none` where the path is known to generate no text; the native
 * style of the provider type.
 *
 * @param path below the base URL; read for style `other` only.
 */
export function capStyleFor(
  dialect: ProviderDialect,
  style: ApiStyle,
  clamp: CapStyle | undefined,
  path: string,
): CapStyle {
  const named = clamp ?? CAP_STYLE_OF_API[style];
  if (named !== undefined) return named;
  const byEnding = capStyleOfExtraPath(path);
  if (byEnding !== 'none') return byEnding;
  return generatesNoText(path) ? 'none' : dialect.capStyle;
}
