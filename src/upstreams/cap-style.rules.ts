import type { ApiStyle, CapStyle } from './api-style.rules.js';
import type { ProviderDialect } from './provider-dialect.js';

/** Endings of unnamed text-generation paths; their bodies carry the members of the named style. */
const CAP_STYLE_OF_ENDING: ReadonlyMap<string, CapStyle> = new Map([
  ['completions', 'chat_completions'],
  ['responses', 'responses'],
  ['agent', 'responses'],
  ['messages', 'anthropic'],
]);

/**
 * The ceiling members of a default path that has no API style of its own: those of its body where it generates
 * text, `none` for embeddings, images and speech. Source: docs/reference/application-api.md#allowed-paths.
 */
export function capStyleOfExtraPath(path: string): CapStyle {
  return CAP_STYLE_OF_ENDING.get(path.slice(path.lastIndexOf('/') + 1)) ?? 'none';
}

/**
 * Path segments, and actions behind a colon, of requests that generate no text: embeddings, counting, moderation,
 * ranking, images, speech. Providers refuse or misread a ceiling there.
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

/** Whether a path without an API style is known to generate no text. An unknown path may, so a ceiling holds there. */
function generatesNoText(path: string): boolean {
  return path.split(SEGMENTS).some((segment) => WITHOUT_TEXT.has(segment));
}

const CAP_STYLE_OF_API: Readonly<Record<ApiStyle, CapStyle | undefined>> = {
  responses: 'responses',
  chat_completions: 'chat_completions',
  // Native for the type; but a Messages body is a Messages body wherever it is sent.
  anthropic_messages: 'anthropic',
  gemini_native: 'gemini_native',
  audio_transcription: 'none',
  other: undefined,
};

/**
 * Which members hold the output ceiling of a request: the matched policy entry's `clamp`, else what the API style
 * says, else what the path's ending says of a text-generation body, else none where the path is known to generate no
 * text, else what the provider type speaks natively.
 *
 * @param path below the base URL; looked at for unnamed styles only.
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
