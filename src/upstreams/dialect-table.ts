import type { ApiStyle, CapFieldForChat, CapStyle, EndpointStyle } from './api-style.rules.js';
import type { BuiltInType } from './provider-types.js';

/** Credential headers of the built-in types. `authorization` carries a bearer token, any other header the bare key. */
type CredentialHeader = 'authorization' | 'x-api-key' | 'x-goog-api-key';

export type HeaderPair = readonly [name: string, value: string];

/** Differences of a provider type from the defaults: bearer key, Chat Completions, every style, no reported cost. */
export interface DialectFacts {
  readonly label: string;
  readonly baseUrl: string;
  /** In lower case. */
  readonly credentialHeader?: string;
  readonly extraHeaders?: readonly HeaderPair[];
  readonly capStyle?: CapStyle;
  /** `max_tokens` when absent. */
  readonly capFieldForChat?: CapFieldForChat;
  /** Its Chat Completions streams end with their usage unrequested; it documents no option for that. */
  readonly streamsUsage?: true;
  readonly apiStyles?: readonly ApiStyle[];
  readonly endpointPaths?: readonly (readonly [EndpointStyle, string])[];
  readonly probePath?: string;
  readonly probeHeaders?: readonly HeaderPair[];
  /** Lists of models besides `probePath`. */
  readonly modelPaths?: readonly string[];
  /** Developer of a type that serves its own models; `namespace`: taken from the model name. */
  readonly author?: string;
  /** Styles whose answers contain the provider's own cost. */
  readonly costStyles?: readonly ApiStyle[];
  /** Inference paths without a named style. */
  readonly extraPaths?: readonly string[];
  /**
   * Paths of objects that the provider keeps, with `{object}` for the id: their owners may read, delete and cancel
   * them.
   */
  readonly objectPaths?: readonly string[];
  /** Further paths that the provider serves for free: token counts, moderation. */
  readonly freePaths?: readonly string[];
  /** Default model of a path on which a request may omit the model. */
  readonly pathModels?: readonly (readonly [path: string, model: string])[];
}

/**
 * Facts of the built-in types.
 * Source: docs/reference/application-api.md#allowed-paths, docs/reference/management-api.md#testing-a-provider-key.
 */
export const DIALECT_FACTS: Readonly<
  Record<BuiltInType, DialectFacts & { readonly credentialHeader?: CredentialHeader }>
> = {
  openai: {
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/',
    capStyle: 'responses',
    capFieldForChat: 'max_completion_tokens',
    endpointPaths: [
      ['responses', 'v1/responses'],
      ['transcription', 'v1/audio/transcriptions'],
    ],
    probePath: 'v1/models',
    author: 'OpenAI',
    extraPaths: [
      ...['v1/responses/compact', 'v1/images/generations', 'v1/images/edits', 'v1/embeddings', 'v1/audio/speech'],
    ],
    freePaths: ['v1/responses/input_tokens', 'v1/moderations'],
    pathModels: [['v1/moderations', 'omni-moderation-latest']],
  },
  anthropic: {
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/',
    credentialHeader: 'x-api-key',
    capStyle: 'anthropic',
    probePath: 'v1/models',
    probeHeaders: [['anthropic-version', '2023-06-01']],
    author: 'Anthropic',
    freePaths: ['v1/messages/count_tokens'],
  },
  xai: {
    label: 'xAI',
    baseUrl: 'https://api.x.ai/',
    capStyle: 'responses',
    endpointPaths: [
      ['responses', 'v1/responses'],
      ['transcription', 'v1/stt'],
    ],
    probePath: 'v1/models',
    author: 'xAI',
    costStyles: ['chat_completions', 'responses', 'other'],
    extraPaths: ['v1/images/generations', 'v1/images/edits', 'v1/embeddings', 'v1/completions'],
  },
  gemini: {
    label: 'Gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/',
    credentialHeader: 'x-goog-api-key',
    capStyle: 'gemini_native',
    probePath: 'v1beta/models',
    modelPaths: ['v1/models', 'v1beta/openai/models'],
    author: 'Google',
    extraPaths: [
      ...[
        'v1beta/models/{model}:embedContent',
        'v1/models/{model}:embedContent',
        'v1alpha/models/{model}:embedContent',
      ],
      ...['v1beta/models/{model}:batchEmbedContents', 'v1/models/{model}:batchEmbedContents'],
      ...['v1alpha/models/{model}:batchEmbedContents', 'v1beta/openai/embeddings'],
    ],
    objectPaths: ['v1', 'v1alpha', 'v1beta'].flatMap((version) => [
      ...[`${version}/interactions/{object}`, `${version}/interactions/{object}/cancel`],
    ]),
    freePaths: [
      ...['v1beta/models/{model}:countTokens', 'v1/models/{model}:countTokens', 'v1alpha/models/{model}:countTokens'],
    ],
  },
  perplexity: {
    label: 'Perplexity',
    baseUrl: 'https://api.perplexity.ai/',
    streamsUsage: true,
    capStyle: 'responses',
    author: 'Perplexity',
    extraPaths: [
      'v1/agent',
      'router/v1/chat/completions',
      'router/v1/responses',
      'router/v1/messages',
      'v1/embeddings',
      'v1/contextualizedembeddings',
    ],
  },
  deepseek: {
    label: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/',
    probePath: 'models',
    author: 'DeepSeek',
    extraPaths: ['responses', 'beta/completions', 'anthropic/v1/messages'],
  },
  groq: {
    label: 'Groq',
    baseUrl: 'https://api.groq.com/',
    probePath: 'openai/v1/models',
    extraPaths: ['openai/v1/audio/speech'],
  },
  mistral: {
    label: 'Mistral',
    baseUrl: 'https://api.mistral.ai/',
    streamsUsage: true,
    probePath: 'v1/models',
    author: 'Mistral',
    extraPaths: ['v1/embeddings', 'v1/fim/completions', 'v1/audio/speech'],
  },
  together: {
    label: 'Together AI',
    baseUrl: 'https://api.together.ai/',
    probePath: 'v1/models',
    extraPaths: ['v1/completions', 'v1/images/generations', 'v1/audio/speech', 'v1/embeddings'],
  },
  fireworks: {
    label: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/',
    modelPaths: ['inference/v1/models'],
    extraPaths: [
      'inference/v1/completions',
      'inference/v1/messages',
      'inference/v1/responses',
      'inference/v1/embeddings',
    ],
  },
  cerebras: {
    label: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/',
    probePath: 'v1/models',
    extraPaths: ['v1/completions'],
  },
  moonshot: {
    label: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/',
    probePath: 'v1/models',
    author: 'Moonshot AI',
    extraPaths: ['anthropic/v1/messages'],
  },
  huggingface: { label: 'Hugging Face', baseUrl: 'https://router.huggingface.co/', modelPaths: ['v1/models'] },
  baseten: { label: 'Baseten', baseUrl: 'https://inference.baseten.co/', probePath: 'v1/models' },
  bytedance: {
    label: 'ByteDance Ark',
    baseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3/',
    extraPaths: ['responses', 'images/generations', 'embeddings/multimodal'],
  },
  openrouter: {
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/',
    extraHeaders: [['x-openrouter-metadata', 'enabled']],
    // The only style of this type whose answer contains a cost.
    apiStyles: ['chat_completions'],
    probePath: 'v1/key',
    modelPaths: ['v1/models'],
    author: 'namespace',
    costStyles: ['chat_completions'],
  },
};
