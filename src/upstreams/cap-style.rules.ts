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
 * text, `none` for embeddings, images and speech. Source: contract-app 6.5 (revision B).
 */
export function capStyleOfExtraPath(path: string): CapStyle {
  return CAP_STYLE_OF_ENDING.get(path.slice(path.lastIndexOf('/') + 1)) ?? 'none';
}

const CAP_STYLE_OF_API: Readonly<Record<ApiStyle, CapStyle | undefined>> = {
  responses: 'responses',
  chat_completions: 'chat_completions',
  // Native for the type in contract-app 6.4; but a Messages body is a Messages body wherever it is sent (threats 3.1).
  anthropic_messages: 'anthropic',
  gemini_native: 'gemini_native',
  audio_transcription: 'none',
  other: undefined,
};

/**
 * Which members hold the output ceiling of a request: the matched policy entry's `clamp`, else what the API style
 * says, else what the path's ending says of a text-generation body, else what the provider type speaks natively.
 *
 * @param path below the base URL; looked at for unnamed styles only.
 * Source: contract-app 6.8; threats 3.1.
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
  return byEnding === 'none' ? dialect.capStyle : byEnding;
}
