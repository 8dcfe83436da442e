import type { ReadableApp } from '../app-directory/app-snapshot.js';
import { displayText } from '../common/errors/display-text.rules.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { type CompiledPrice, NO_CHARGE } from '../pricing/model-price.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import { MAX_MODEL_LENGTH } from '../upstreams/provider-types.js';
import { isKeptModel } from './body/kept-objects.rules.js';
import { unpriced } from './provider-choice.rules.js';
import type { ProxyPlan } from './proxy-plans.js';

/** Model in the usage of a request without a model; no provider has a model of this name. */
const NO_MODEL = '(none)';

/** Model of a call: requested, canonical and wire names, and its price. */
export interface ModelChoice {
  readonly requested: string;
  /** After the application's rewrites; recorded in usage. */
  readonly canonical: string;
  /** Name sent upstream; some gateways require a prefix. */
  readonly wire: string;
  /** Absent only where the provider reports the cost. */
  readonly price: CompiledPrice | undefined;
  /** Where to write a changed name; the model of a path rule is never written. */
  readonly source: 'path' | 'body' | 'rule';
}

/**
 * Chooses the model: from the path, else the body, else the path rule. The allowlist applies to the client's name; then
 * the name is rewritten and priced.
 *
 * @param inBody the body's `model`, if present.
 * @param priceOf price of a model at the plan's provider on the day of the call.
 * @throws invalid_request no model, or different models in path and body; model_not_allowed; pricing_not_configured.
 * Source: docs/reference/application-api.md#models.
 */
export function chooseModel(
  plan: ProxyPlan,
  app: ReadableApp,
  inBody: string | undefined,
  priceOf: (canonical: string) => CompiledPrice | undefined,
): ModelChoice {
  const { match, provider, style } = plan;
  const requested = match.model ?? inBody ?? match.entry.fixedModel;
  if (requested === undefined || requested === '') throw invalidRequest('model', 'is required', 'model_missing');
  requireAllowed(plan, requested);
  if (match.model !== undefined && inBody !== undefined && !agreesWithPath(inBody, match.model)) {
    throw invalidRequest('model', 'must be the model of the path, or be left out', 'model_disagrees');
  }
  if (isKeptModel(requested) && !isNamed(plan, app, requested)) {
    throw invalidRequest('model', 'is an object stored at the provider; the application must allow it', 'kept_object');
  }
  const canonical = app.modelRewrites.get(requested) ?? requested;
  const price = priceOf(canonical);
  if (price === undefined && !provider.route.reportsCost(style)) {
    throw unpriced(canonical, provider.slug);
  }
  const source = match.model !== undefined ? 'path' : inBody !== undefined ? 'body' : 'rule';
  return { requested, canonical, wire: wireModel(provider, canonical), price, source };
}

/** A provider that an application may use. */
export type AllowedProvider = Pick<ProxyPlan, 'access' | 'provider'>;

/** Whether the application's model list allows a client's name; an empty one allows every name. */
export function isAllowed({ access: { allowedModels } }: Pick<AllowedProvider, 'access'>, model: string): boolean {
  return allowedModels.size === 0 || allowedModels.has(model);
}

/**
 * Whether the operator names a model: in the allowlist, a rewrite or a price. Required of a model that is stored at the
 * provider.
 */
export function isNamed({ access, provider }: AllowedProvider, app: ReadableApp, model: string): boolean {
  return access.allowedModels.has(model) || app.modelRewrites.has(model) || provider.customPrices.has(model);
}

/** Prefix of model names in bodies of Google's APIs; in paths it precedes the model segment. */
const RESOURCE_PREFIX = 'models/';

/** Whether body and path name the same model. */
export function agreesWithPath(inBody: string, inPath: string): boolean {
  return inBody === inPath || inBody === RESOURCE_PREFIX + inPath;
}

/** Applies the prefix of the previous model name in the body to a new one. */
export function inBodySpelling(before: string, model: string): string {
  return before.startsWith(RESOURCE_PREFIX) && !model.startsWith(RESOURCE_PREFIX) ? RESOURCE_PREFIX + model : model;
}

/**
 * Chooses the model of a request without a body: from the path, else the path rule, else none. Such a request is free,
 * so it needs no price.
 *
 * @throws model_not_allowed, invalid_request.
 */
export function modelWithoutBody(plan: ProxyPlan, app: ReadableApp): ModelChoice {
  const { match, provider } = plan;
  const source = match.model === undefined ? 'rule' : 'path';
  const requested = match.model ?? match.entry.fixedModel;
  if (requested === undefined) {
    return { requested: NO_MODEL, canonical: NO_MODEL, wire: NO_MODEL, price: NO_CHARGE, source };
  }
  requireAllowed(plan, requested);
  const canonical = app.modelRewrites.get(requested) ?? requested;
  return { requested, canonical, wire: wireModel(provider, canonical), price: NO_CHARGE, source };
}

function requireAllowed(plan: ProxyPlan, model: string): void {
  if (model.length > MAX_MODEL_LENGTH) throw invalidRequest('model', `has more than ${MAX_MODEL_LENGTH} characters`);
  if (isAllowed(plan, model)) return;
  throw new GatewayError('model_not_allowed', {
    message: `The application does not allow the model ${displayText(model)}.`,
  });
}

/** Model name on the route to its provider. Source: docs/reference/application-api.md#models. */
export function wireModel({ route }: ProviderInstance, canonical: string): string {
  return route.modelPrefix === null ? canonical : route.modelPrefix + canonical;
}
