import { invalidRequest } from '../../common/errors/gateway-error.js';
import { integer, listOf, oneOf, openObject, type Read, tableOf, text } from '../../common/fields/config-reader.js';
import type { CapStyle } from '../../upstreams/api-style.rules.js';
import { PATH_METHODS, type PathMethod } from '../../upstreams/path-methods.rules.js';
import type { AllowedPathEntry, AllowedPathRule, ProviderSelection, Routing, SelectedProvider } from './app-config.js';

const PROVIDER_SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const SLUG_PROBLEM = 'must be a provider slug: 1 to 63 of a-z, 0-9 and -, not beginning with -';
const MAX_MODEL_LENGTH = 200;
const MAX_PATH_LENGTH = 500;
const MODEL_PLACEHOLDER = '{model}';
const CLAMPS = ['responses', 'chat_completions', 'gemini_native', 'anthropic', 'none'] as const satisfies CapStyle[];

export const providerSlug: Read<string> = text({ pattern: PROVIDER_SLUG, problem: SLUG_PROBLEM });

/** The name of a model, 1 to 200 characters. */
export const modelName: Read<string> = text({ max: MAX_MODEL_LENGTH });

/** The output token limit of a policy or endpoint. */
export const outputTokens: Read<number> = integer({ min: 1 });

/**
 * Reads `routing`.
 *
 * Source: docs/reference/management-api.md#routing-configuration,
 * docs/reference/management-api.md#application-configuration, docs/reference/application-api.md#allowed-paths.
 */
export const routingConfig: Read<Routing> = (value, path) => {
  const reader = openObject(value, path, ['providers', 'model_rewrites']);
  return {
    providers: reader.required('providers', providerSelection),
    model_rewrites: reader.required('model_rewrites', modelRewrites),
  };
};

const modelRewrites = tableOf({
  pattern: /^[\s\S]{1,200}$/,
  keyProblem: `must be a model name of 1 to ${MAX_MODEL_LENGTH} characters`,
  value: modelName,
});

/** A path as the provider receives it, without query and fragment. */
const providerPath: Read<string> = (value, path) => {
  const named = text({
    max: MAX_PATH_LENGTH,
    pattern: /^(?!\/)[!-~]+$/,
    problem: 'must be a provider path without spaces or a leading slash',
  })(value, path);
  if (/[?#]/.test(named)) throw invalidRequest(path, 'must not have a query or a fragment');
  if (named.split(MODEL_PLACEHOLDER).length > 2) throw invalidRequest(path, `must name ${MODEL_PLACEHOLDER} only once`);
  return named;
};

const methodList = listOf(oneOf(PATH_METHODS), { min: 1, max: PATH_METHODS.length });

const pathMethods: Read<readonly PathMethod[]> = (value, path) => {
  const methods = methodList(value, path);
  if (new Set(methods).size < methods.length) throw invalidRequest(path, 'must not name a method twice');
  return methods;
};

const allowedPathRule: Read<AllowedPathRule> = (value, path) => {
  const reader = openObject(value, path, ['path', 'fixed_model', 'clamp', 'methods']);
  return {
    path: reader.required('path', providerPath),
    ...reader.optional('fixed_model', modelName),
    ...reader.optional('clamp', oneOf(CLAMPS)),
    ...reader.optional('methods', pathMethods),
  };
};

const allowedPath: Read<AllowedPathEntry> = (value, path) => {
  if (typeof value === 'string') return providerPath(value, path);
  if (typeof value === 'object' && value !== null) return allowedPathRule(value, path);
  throw invalidRequest(path, 'must be a path or an object with a path');
};

const selectedProvider: Read<SelectedProvider> = (value, path) => {
  const reader = openObject(value, path, ['allowed_paths', 'allowed_models', 'max_output_tokens']);
  return {
    allowed_paths: reader.required('allowed_paths', listOf(allowedPath)),
    allowed_models: reader.required('allowed_models', listOf(modelName)),
    ...reader.optional('max_output_tokens', outputTokens),
  };
};

const selectedProviders = tableOf({ pattern: PROVIDER_SLUG, keyProblem: SLUG_PROBLEM, value: selectedProvider });

const providerSelection: Read<ProviderSelection> = (value, path) => {
  const reader = openObject(value, path, ['mode', 'selected']);
  const mode = reader.required('mode', oneOf(['all', 'selected']));
  if (mode === 'selected') return { mode, selected: reader.required('selected', selectedProviders) };
  reader.refuse('selected', 'only with mode "selected"');
  return { mode };
};
