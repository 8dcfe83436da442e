import { listOf, oneOf, openObject, type Read, tableOf } from '../../common/fields/config-reader.js';
import type { EndpointTarget, JsonObject, NamedEndpoint, Table } from './app-config.js';
import { jsonObject } from './free-json.rules.js';
import { modelName, outputTokens, providerSlug } from './routing-config.rules.js';

const MAX_FALLBACKS = 10;
const NO_PARAMS: JsonObject = {};
const NO_FALLBACK: readonly EndpointTarget[] = [];

const target: Read<EndpointTarget> = (value, path) => {
  const reader = openObject(value, path, ['provider', 'model']);
  return { provider: reader.required('provider', providerSlug), model: reader.required('model', modelName) };
};

const fallbackTargets = listOf(target, { max: MAX_FALLBACKS });

/** Reads one named endpoint. Source: docs/reference/management-api.md#endpoint-configuration. */
const namedEndpoint: Read<NamedEndpoint> = (value, path) => {
  const reader = openObject(value, path, ['api_style', 'provider', 'model', 'params', 'max_output_tokens', 'fallback']);
  const api_style = reader.required('api_style', oneOf(['responses', 'transcription']));
  const provider = reader.required('provider', providerSlug);
  const model = reader.required('model', modelName);
  const fallback = reader.withDefault('fallback', fallbackTargets, NO_FALLBACK);
  if (api_style === 'transcription') {
    reader.refuse('params', 'only with api_style "responses"');
    reader.refuse('max_output_tokens', 'only with api_style "responses"');
    return { api_style, provider, model, fallback };
  }
  const params = reader.withDefault('params', jsonObject, NO_PARAMS);
  return { api_style, provider, model, params, ...reader.optional('max_output_tokens', outputTokens), fallback };
};

/**
 * Reads `endpoints`, keyed by the last segment of each endpoint's address.
 *
 * Source: docs/reference/management-api.md#application-configuration.
 */
export const endpointsConfig: Read<Table<NamedEndpoint>> = tableOf({
  pattern: /^[a-z0-9-]{1,64}$/,
  keyProblem: 'must be an endpoint slug: 1 to 64 of a-z, 0-9 and -',
  value: namedEndpoint,
});
