import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';
import { shownText } from '../../common/errors/shown-text.rules.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';
import { isNamed, memberValue, type ScannedBody } from '../json/json-members.js';
import { isKeptModel } from './kept-objects.rules.js';

/** The target of a body, as far as it determines which members can name further models. */
export interface AlternativesTarget {
  readonly type: ProviderType;
  readonly routeKind: 'direct' | GatewayType;
  /** Names as clients send them; empty = any. */
  readonly allowedModels: ReadonlySet<string>;
}

/** Maximum size of a list of fallback models. */
const MODELS_MAX_BYTES = 16 * 1024;

/**
 * Refuses `models`, which could select models other than the validated and priced one. Where the provider reports the
 * cost, every listed name must be allowed. Where the provider or gateway would use another model at the price of the
 * validated one, the member is always refused.
 *
 * @param body scanned with `REQUEST_NAMES`.
 * @throws invalid_request, model_not_allowed.
 * Source: docs/reference/application-api.md#models, docs/reference/security.md#judged-and-sent-bytes,
 * docs/reference/application-api.md#refused-members.
 */
export function judgeModelAlternatives(
  body: ScannedBody,
  { type, routeKind, allowedModels }: AlternativesTarget,
): void {
  if (routeKind === 'vercel' || type === 'perplexity') refuseModels(body);
  else if (type === 'openrouter') requireAllowedModels(body, allowedModels);
}

function requireAllowedModels({ bytes, root }: ScannedBody, allowedModels: ReadonlySet<string>): void {
  const member = root.members.get('models');
  if (!isNamed(bytes, member)) return;
  const models = memberValue(bytes, member, 'models', MODELS_MAX_BYTES);
  if (!Array.isArray(models)) throw invalidRequest('models', 'must be an array');
  for (const [index, model] of models.entries()) {
    if (typeof model !== 'string' || model === '')
      throw invalidRequest(`models.${index}`, 'must be a non-empty string');
    if (isKeptModel(model) && !allowedModels.has(model)) {
      throw invalidRequest(
        `models.${index}`,
        'names a preset at the provider; the application must allow it',
        'kept_object',
      );
    }
    if (allowedModels.size > 0 && !allowedModels.has(model)) {
      throw new GatewayError('model_not_allowed', {
        message: `The application does not allow the model ${shownText(model)}, which models.${index} names.`,
      });
    }
  }
}

function refuseModels({ bytes, root }: ScannedBody): void {
  if (isNamed(bytes, root.members.get('models'))) throw invalidRequest('models', 'cannot be used through the gateway');
}
