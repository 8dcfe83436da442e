/** The wire protocol a request speaks. Read from its path alone; `other` is everything we have no name for. */
export type ApiStyle =
  | 'responses'
  | 'chat_completions'
  | 'anthropic_messages'
  | 'gemini_native'
  | 'audio_transcription'
  | 'other';

/** Every API style, `other` last. */
export const API_STYLES: readonly ApiStyle[] = [
  'responses',
  'chat_completions',
  'anthropic_messages',
  'gemini_native',
  'audio_transcription',
  'other',
];

/** Which body members hold the output ceiling; `none` has no such member. */
export type CapStyle = 'responses' | 'chat_completions' | 'anthropic' | 'gemini_native' | 'none';

/** The member that a Chat Completions body gets when it names no ceiling. */
export type CapFieldForChat = 'max_completion_tokens' | 'max_tokens';

/**
 * The request shapes the service composes itself for named endpoints.
 *
 * Source: docs/reference/application-api.md#endpoint-bodies.
 */
export type EndpointStyle = 'responses' | 'transcription';

const STYLE_OF_PATH: ReadonlyMap<string, ApiStyle> = new Map([
  ['v1/responses', 'responses'],
  ['openai/v1/responses', 'responses'],
  ['chat/completions', 'chat_completions'],
  ['v1/chat/completions', 'chat_completions'],
  ['openai/v1/chat/completions', 'chat_completions'],
  ['inference/v1/chat/completions', 'chat_completions'],
  ['v1beta/openai/chat/completions', 'chat_completions'],
  ['v1/messages', 'anthropic_messages'],
  ['v1/audio/transcriptions', 'audio_transcription'],
  ['openai/v1/audio/transcriptions', 'audio_transcription'],
  ['v1/audio/translations', 'audio_transcription'],
  ['openai/v1/audio/translations', 'audio_transcription'],
  ['v1/stt', 'audio_transcription'],
]);

const GEMINI_PREFIXES: ReadonlySet<string> = new Set(['v1/models/', 'v1alpha/models/', 'v1beta/models/']);
const GEMINI_ACTIONS: ReadonlySet<string> = new Set([':generateContent', ':streamGenerateContent']);

/** The paths of all named styles, as path-policy entries. Source: docs/reference/application-api.md#api-styles. */
export const NAMED_STYLE_PATHS: readonly string[] = [
  ...STYLE_OF_PATH.keys(),
  ...[...GEMINI_PREFIXES].flatMap((prefix) => [...GEMINI_ACTIONS].map((action) => `${prefix}{model}${action}`)),
];

/**
 * The API style of a provider path; the provider's type plays no part.
 *
 * @param path as it will be sent: still percent-encoded, no leading slash, no query.
 * Source: docs/reference/application-api.md#api-styles.
 */
export function classifyPath(path: string): ApiStyle {
  return STYLE_OF_PATH.get(path) ?? (isGeminiGeneration(path) ? 'gemini_native' : 'other');
}

function isGeminiGeneration(path: string): boolean {
  const modelStart = path.indexOf('/models/') + '/models/'.length;
  const action = path.lastIndexOf(':');
  return (
    action > modelStart &&
    GEMINI_ACTIONS.has(path.slice(action)) &&
    GEMINI_PREFIXES.has(path.slice(0, modelStart)) &&
    path.indexOf('/', modelStart) === -1
  );
}
