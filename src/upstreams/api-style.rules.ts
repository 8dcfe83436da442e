/** The wire protocol of a request, determined by its path alone; `other` is every unrecognised path. */
export type ApiStyle =
  | 'responses'
  | 'chat_completions'
  | 'anthropic_messages'
  | 'gemini_native'
  | 'gemini_interactions'
  | 'audio_transcription'
  | 'other';

export const API_STYLES: readonly ApiStyle[] = [
  'responses',
  'chat_completions',
  'anthropic_messages',
  'gemini_native',
  'gemini_interactions',
  'audio_transcription',
  'other',
];

/** Body members that hold the output ceiling; `none` has no such member. */
export type CapStyle =
  | 'responses'
  | 'chat_completions'
  | 'anthropic'
  | 'gemini_native'
  | 'gemini_interactions'
  | 'none';

/** The member to add to a Chat Completions body without a ceiling. */
export type CapFieldForChat = 'max_completion_tokens' | 'max_tokens';

/**
 * Request shapes that the gateway composes for named endpoints.
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
  ['v1/interactions', 'gemini_interactions'],
  ['v1alpha/interactions', 'gemini_interactions'],
  ['v1beta/interactions', 'gemini_interactions'],
  ['v1/audio/transcriptions', 'audio_transcription'],
  ['openai/v1/audio/transcriptions', 'audio_transcription'],
  ['v1/audio/translations', 'audio_transcription'],
  ['openai/v1/audio/translations', 'audio_transcription'],
  ['v1/stt', 'audio_transcription'],
]);

const GEMINI_PREFIXES: ReadonlySet<string> = new Set(['v1/models/', 'v1alpha/models/', 'v1beta/models/']);
const GEMINI_ACTIONS: ReadonlySet<string> = new Set([':generateContent', ':streamGenerateContent']);

/** Paths of all named styles, as path-policy entries. Source: docs/reference/application-api.md#api-styles. */
export const NAMED_STYLE_PATHS: readonly string[] = [
  ...STYLE_OF_PATH.keys(),
  ...[...GEMINI_PREFIXES].flatMap((prefix) => [...GEMINI_ACTIONS].map((action) => `${prefix}{model}${action}`)),
];

/**
 * Returns the API style of a provider path; the provider type has no effect.
 *
 * @param path as sent: percent-encoded, no leading slash, no query.
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

const MODEL_LIST = /^(?:(?:openai\/|inference\/)?v1|v1alpha|v1beta|v1beta\/openai)\/models$|^models$/;

/** Whether a path is a provider's list of models. */
export function isModelList(path: string): boolean {
  return MODEL_LIST.test(path);
}
