import type { ReadableApp } from '../app-directory/app-snapshot.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { shownText } from '../common/errors/shown-text.rules.js';
import { type CompiledPrice, NO_CHARGE } from '../pricing/model-price.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import { isKeptModel } from './body/kept-objects.rules.js';
import type { ProxyPlan } from './plan.js';
import { unpriced } from './provider-choice.rules.js';

const MAX_MODEL_CHARACTERS = 200;
/** What usage records of a request that names no model; no provider's model is called so. */
const NO_MODEL = '(none)';

/** The model of a call: as asked, as sent and recorded, and what it costs. */
export interface ModelChoice {
  readonly requested: string;
  /** After the application's rewrites; what usage records. */
  readonly canonical: string;
  /** What the provider is told: behind some gateways with a prefix. */
  readonly wire: string;
  /** Absent only where the provider reports the cost itself. */
  readonly price: CompiledPrice | undefined;
  /** Where the name must be written back when it changed; a path rule's own model is never written. */
  readonly source: 'path' | 'body' | 'rule';
}

/**
 * Chooses the model: the path's, else the body's, else the path rule's; allowed by the name the client sent, then
 * rewritten, then priced.
 *
 * @param inBody the body's `model`, when it has one.
 * @param priceOf what the plan's provider asks for a model on the day of the call.
 * @throws invalid_request no model, or another one in the body than in the path; model_not_allowed;
 *   pricing_not_configured.
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
  if (isKeptModel(requested)) requireNamed(plan, app, requested);
  const canonical = app.modelRewrites.get(requested) ?? requested;
  const price = priceOf(canonical);
  if (price === undefined && !provider.route.reportsCost(style)) {
    throw unpriced(canonical, provider.slug);
  }
  const source = match.model !== undefined ? 'path' : inBody !== undefined ? 'body' : 'rule';
  return { requested, canonical, wire: wireModel(provider, canonical), price, source };
}

/** A model that is kept at the provider is the operator's to name: in the list of models, a rewrite or a price. */
function requireNamed({ access, provider }: ProxyPlan, app: ReadableApp, model: string): void {
  if (access.allowedModels.has(model) || app.modelRewrites.has(model) || provider.customPrices.has(model)) return;
  throw invalidRequest('model', 'names what is kept at the provider; the application must allow it', 'kept_object');
}

/** How Google's APIs name a model in a body; in the path the prefix stands before the name. */
const RESOURCE_PREFIX = 'models/';

/** Whether a body names the model that the path names. */
export function agreesWithPath(inBody: string, inPath: string): boolean {
  return inBody === inPath || inBody === RESOURCE_PREFIX + inPath;
}

/** A model as the body spelled the one before. */
export function inBodySpelling(before: string, model: string): string {
  return before.startsWith(RESOURCE_PREFIX) && !model.startsWith(RESOURCE_PREFIX) ? RESOURCE_PREFIX + model : model;
}

/**
 * The model of a request without a body, which costs nothing and so needs no price: the path's, else the path rule's,
 * else none.
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

function requireAllowed({ access }: ProxyPlan, model: string): void {
  if (model.length > MAX_MODEL_CHARACTERS)
    throw invalidRequest('model', `has more than ${MAX_MODEL_CHARACTERS} characters`);
  if (access.allowedModels.size === 0 || access.allowedModels.has(model)) return;
  throw new GatewayError('model_not_allowed', {
    message: `The application does not allow the model ${shownText(model)}.`,
  });
}

/** The name of a model on the way to its provider. Source: docs/reference/application-api.md#models. */
export function wireModel({ route }: ProviderInstance, canonical: string): string {
  return route.modelPrefix === null ? canonical : route.modelPrefix + canonical;
}
