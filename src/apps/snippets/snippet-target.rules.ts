import type { AppConfig } from '../../app-directory/config/app-config.js';
import type { KnownProvider } from '../../app-directory/config/app-references.rules.js';
import type { Authentication } from '../../app-directory/config/authentication-config.js';
import { type ProviderPolicy, policyFor } from '../../app-directory/config/provider-policy.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { classifyPath } from '../../upstreams/api-style.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';

export const SNIPPET_LANGUAGES = ['curl', 'swift', 'kotlin'] as const;

export type SnippetLanguage = (typeof SNIPPET_LANGUAGES)[number];

/** The requested example. */
export interface SnippetQuestion {
  readonly language?: SnippetLanguage;
  /** A slug. */
  readonly provider?: string;
  /** A slug. */
  readonly endpoint?: string;
}

/** What an example sends. */
export interface SnippetTarget {
  /** Below the address of the application. */
  readonly path: string;
  /** A JSON body; absent: a form with an audio file. */
  readonly body?: object;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly notes: readonly string[];
}

/** A call of an application, in no language. */
export interface SnippetCall {
  /** Of the gateway. */
  readonly origin: string;
  readonly appId: string;
  readonly authentication: Authentication;
  readonly target: SnippetTarget;
}

const PROMPT = 'Say hello.';
const MESSAGES = [{ role: 'user', content: PROMPT }];
const MODEL = 'MODEL';
const MODEL_PLACEHOLDER = '{model}';
const FILL_IN_MODEL = `Replace ${MODEL} by the name of a model that the provider serves; the price list has them.`;
const ANTHROPIC_VERSION = ['anthropic-version', '2023-06-01'] as const;
const ANTHROPIC_MAX_TOKENS = 100;
const CHAT_PATH = 'v1/chat/completions';
/** The usual inference path of types that serve another one than Chat Completions under `v1/`. */
const USUAL_PATHS: Partial<Record<ProviderType, string>> = {
  openai: 'v1/responses',
  xai: 'v1/responses',
  anthropic: 'v1/messages',
  gemini: 'v1beta/openai/chat/completions',
  groq: 'openai/v1/chat/completions',
  fireworks: 'inference/v1/chat/completions',
  perplexity: 'chat/completions',
  deepseek: 'chat/completions',
  bytedance: 'chat/completions',
};

/** A provider instance of the account, with its route. */
export interface CallableProvider extends KnownProvider {
  /** Calls through a gateway of type `vercel` use its paths. */
  readonly routeKind?: string | undefined;
}

/**
 * Chooses what an example calls: the named endpoint or provider, else the first provider of the application that has
 * one, else its first endpoint.
 *
 * @throws invalid_request, endpoint_not_found, provider_not_found, unsupported_snippet.
 * Source: docs/reference/management-api.md#application-snippets.
 */
export function snippetTarget(
  config: AppConfig,
  providers: readonly CallableProvider[],
  { provider, endpoint }: SnippetQuestion,
): SnippetTarget {
  if (endpoint !== undefined && provider !== undefined) throw invalidRequest('endpoint', 'not with provider');
  if (endpoint !== undefined) return endpointTarget(config, endpoint);
  if (provider !== undefined) {
    const named = providers.find(({ slug }) => slug === provider);
    const policy = named && policyFor(config, named);
    if (named === undefined || policy === undefined) throw new GatewayError('provider_not_found');
    const target = providerTarget(named, policy);
    if (target === undefined) throw unsupported('The application allows this provider no path that has an example.');
    return target;
  }
  const [first] = Object.keys(config.endpoints);
  const target = firstTarget(config, providers) ?? (first === undefined ? undefined : endpointTarget(config, first));
  if (target === undefined) throw unsupported('The application can call nothing that has an example.');
  return target;
}

/** The refusal of an example that does not exist. */
export function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_snippet', { message });
}

function firstTarget(config: AppConfig, providers: readonly CallableProvider[]): SnippetTarget | undefined {
  for (const provider of providers) {
    const policy = provider.status === 'active' ? policyFor(config, provider) : undefined;
    const target = policy && providerTarget(provider, policy);
    if (target !== undefined) return target;
  }
  return undefined;
}

function endpointTarget({ endpoints }: AppConfig, slug: string): SnippetTarget {
  const endpoint = Object.hasOwn(endpoints, slug) ? endpoints[slug] : undefined;
  if (endpoint === undefined) throw new GatewayError('endpoint_not_found');
  const notes = ['Provider, model and parameters are those of the endpoint.'];
  const common = { path: `endpoints/${slug}`, headers: [], notes };
  return endpoint.api_style === 'transcription' ? common : { ...common, body: { input: PROMPT } };
}

/** `undefined` when no allowed path has an example. */
function providerTarget(provider: CallableProvider, policy: ProviderPolicy): SnippetTarget | undefined {
  const usual = (provider.routeKind === 'vercel' ? undefined : USUAL_PATHS[provider.type]) ?? CHAT_PATH;
  const allowed = policy.allowedPaths.filter(({ methods }) => methods === undefined || methods.includes('POST'));
  const choices = policy.allowedPaths.length === 0 ? [{ path: usual, fixedModel: undefined }] : allowed;
  const ordered = [...choices.filter(({ path }) => path === usual), ...choices];
  for (const { path, fixedModel } of ordered) {
    const model = fixedModel ?? [...policy.allowedModels][0] ?? MODEL;
    const sent = sentTo(path, model, policy.maxOutputTokens);
    if (sent === undefined) continue;
    const named = path.replace(MODEL_PLACEHOLDER, encodeURIComponent(model));
    const notes = model === MODEL ? [FILL_IN_MODEL] : [];
    return { path: `proxy/${provider.slug}/${named}`, headers: sent.headers ?? [], body: sent.body, notes };
  }
  return undefined;
}

function sentTo(
  path: string,
  model: string,
  maxOutputTokens = ANTHROPIC_MAX_TOKENS,
): { body: object; headers?: SnippetTarget['headers'] } | undefined {
  switch (classifyPath(path.replace(MODEL_PLACEHOLDER, MODEL))) {
    case 'responses':
      return { body: { model, input: PROMPT } };
    case 'chat_completions':
      return { body: { model, messages: MESSAGES } };
    case 'anthropic_messages': {
      const max_tokens = Math.min(maxOutputTokens, ANTHROPIC_MAX_TOKENS);
      return { body: { model, max_tokens, messages: MESSAGES }, headers: [ANTHROPIC_VERSION] };
    }
    case 'gemini_native':
      return { body: { contents: [{ parts: [{ text: PROMPT }] }] } };
    case 'gemini_interactions':
      return { body: { model, input: PROMPT } };
    default:
      return undefined;
  }
}
