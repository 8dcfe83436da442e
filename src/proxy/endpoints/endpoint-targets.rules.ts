import type { EndpointTarget, NamedEndpoint } from '../../app-directory/config/endpoints-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { CompiledPrice } from '../../pricing/model-price.js';
import type { PriceBook } from '../../pricing/price-book.js';
import type { ProviderInstance, ProviderSet } from '../../providers/provider-instance.js';
import { type ApiStyle, classifyPath, type EndpointStyle } from '../../upstreams/api-style.rules.js';
import type { ModelChoice } from '../model-choice.rules.js';
import { wireModel } from '../model-choice.rules.js';
import { requireActiveProvider, unpriced } from '../provider-choice.rules.js';

/** A resolved target of an endpoint that can serve it. */
export interface Target {
  readonly provider: ProviderInstance;
  readonly style: ApiStyle;
  /** The provider's own path for the endpoint's style. */
  readonly path: string;
  readonly model: ModelChoice;
}

/** Resolved targets of an endpoint. */
export interface EndpointTargets {
  readonly primary: Target;
  /** In call order, without targets that cannot serve the endpoint and without duplicates of earlier targets. */
  readonly fallbacks: readonly Target[];
}

/**
 * Resolves the targets of an endpoint among the account's current providers.
 *
 * @throws for the primary target provider_not_configured, provider_disabled, provider_unavailable (its route does not
 *   serve the endpoint style), pricing_not_configured.
 * Source: docs/reference/application-api.md#endpoint-targets, docs/reference/application-api.md#fallbacks.
 */
export function targetsOf(
  endpoint: NamedEndpoint,
  providers: ProviderSet,
  prices: Pick<PriceBook, 'find'>,
): EndpointTargets {
  const find = (target: EndpointTarget) => findTarget(target, endpoint.api_style, providers, prices);
  const primary = find(endpoint);
  const tried = new Set([attemptOf(endpoint)]);
  const fallbacks: Target[] = [];
  for (const fallback of endpoint.fallback) {
    const attempt = attemptOf(fallback);
    if (tried.has(attempt)) continue;
    tried.add(attempt);
    const target = orUndefined(() => find(fallback));
    if (target !== undefined) fallbacks.push(target);
  }
  return { primary, fallbacks };
}

/** Identifies duplicate targets: same provider, same model. */
function attemptOf({ provider, model }: EndpointTarget): string {
  return `${provider}\n${model}`;
}

function findTarget(
  { provider: slug, model }: EndpointTarget,
  style: EndpointStyle,
  providers: ProviderSet,
  prices: Pick<PriceBook, 'find'>,
): Target {
  const provider = requireActiveProvider(providers, slug);
  const path = provider.route.endpointPaths.get(style);
  if (path === undefined) {
    throw new GatewayError('provider_unavailable', {
      message: `The provider "${slug}" cannot serve endpoints of style "${style}".`,
      reason: 'endpoint_style_not_served',
    });
  }
  const apiStyle = classifyPath(path);
  const price = prices.find(provider.type, model, provider.customPrices);
  if (price === undefined && !provider.route.reportsCost(apiStyle)) throw unpriced(model, slug);
  return { provider, style: apiStyle, path, model: choiceOf(provider, model, price) };
}

/** The model comes from the endpoint's configuration; it overwrites the client's. */
function choiceOf(provider: ProviderInstance, model: string, price: CompiledPrice | undefined): ModelChoice {
  return { requested: model, canonical: model, wire: wireModel(provider, model), price, source: 'body' };
}

function orUndefined<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
