import type { ReadableApp } from '../app-directory/app-snapshot.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import type { PriceBook } from '../pricing/price-book.js';
import type { ProviderInstance } from '../providers/provider-instance.js';
import type { ProxyPlan } from './plan.js';
import { unpriced } from './provider-choice.rules.js';

const MAX_MODEL_CHARACTERS = 200;

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
 * @throws invalid_request no model; model_not_allowed; pricing_not_configured.
 * Source: contract-app 6.6.
 */
export function chooseModel(
  plan: ProxyPlan,
  app: ReadableApp,
  inBody: string | undefined,
  prices: PriceBook,
): ModelChoice {
  const { match, access, provider, style } = plan;
  const requested = match.model ?? inBody ?? match.entry.fixedModel;
  if (requested === undefined || requested === '') throw invalidRequest('model', 'is required', 'model_missing');
  if (requested.length > MAX_MODEL_CHARACTERS)
    throw invalidRequest('model', `has more than ${MAX_MODEL_CHARACTERS} characters`);
  if (access.allowedModels.size > 0 && !access.allowedModels.has(requested)) {
    throw new GatewayError('model_not_allowed', {
      message: `The application does not allow the model "${requested}".`,
    });
  }
  const canonical = app.modelRewrites.get(requested) ?? requested;
  const price = prices.find(provider.type, canonical, provider.customPrices);
  if (price === undefined && !provider.route.reportsCost(style)) {
    throw unpriced(canonical, provider.slug);
  }
  const source = match.model !== undefined ? 'path' : inBody !== undefined ? 'body' : 'rule';
  return { requested, canonical, wire: wireModel(provider, canonical), price, source };
}

/** The name of a model on the way to its provider. Source: contract-app 6.6, step 5. */
export function wireModel({ route }: ProviderInstance, canonical: string): string {
  return route.modelPrefix === null ? canonical : route.modelPrefix + canonical;
}
