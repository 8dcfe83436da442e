import type { ApiStyle } from './api-style.rules.js';

/** Body format of a path; `either`: both are valid there, or the path is unknown. */
export type PathBody = 'json' | 'form' | 'either';

const BODY_OF_STYLE: Readonly<Record<ApiStyle, PathBody | undefined>> = {
  responses: 'json',
  chat_completions: 'json',
  anthropic_messages: 'json',
  gemini_native: 'json',
  audio_transcription: 'form',
  other: undefined,
};

/** Endings of the other paths, as the official SDKs call them. Image edits accept a form or JSON. */
const BODY_OF_ENDING: ReadonlyMap<string, PathBody> = new Map([
  ...(['completions', 'responses', 'agent', 'messages'] as const).map((ending) => [ending, 'json'] as const),
  ...(['embeddings', 'contextualizedembeddings', 'moderations'] as const).map((ending) => [ending, 'json'] as const),
  ...(['count_tokens', 'input_tokens', 'generations', 'speech'] as const).map((ending) => [ending, 'json'] as const),
  ...(['embedContent', 'batchEmbedContents', 'countTokens'] as const).map((ending) => [ending, 'json'] as const),
  ['variations', 'form'],
]);

const LAST_PART = /[^/:]*$/;

/** @param path below the base URL; read for style `other` only. */
export function bodyOfPath(style: ApiStyle, path: string): PathBody {
  return BODY_OF_STYLE[style] ?? BODY_OF_ENDING.get(LAST_PART.exec(path)?.[0] ?? '') ?? 'either';
}
