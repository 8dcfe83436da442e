import { displayText } from '../common/errors/display-text.rules.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { ProviderInstance, ProviderSet } from '../providers/provider-instance.js';
import type { ApiStyle } from '../upstreams/api-style.rules.js';

/** The target of a call. */
export interface CallTarget {
  readonly provider: ProviderInstance;
  readonly style: ApiStyle;
  /** Below the provider's base URL, as the provider documents it. */
  readonly path: string;
  /** Flat list of headers: the provider's credential first, then the fixed ones. */
  readonly credential: readonly string[];
}

/** Where a call goes, determined before its body is read. */
export interface CallPlan {
  readonly method: string;
  /** Whether its request has a body. */
  readonly takesBody: boolean;
  /** Slug of the named endpoint; null on the proxy routes. */
  readonly endpointSlug: string | null;
}

/** What is known about a refused request. Names that a client chose freely are left out: sums keep them forever. */
export interface KnownOfRefused {
  readonly endpointSlug: string | null;
  readonly target?: CallTarget | undefined;
  /** The canonical model, where the configuration names it. */
  readonly model?: string | undefined;
}

/**
 * Finds the active provider with this slug.
 *
 * @throws provider_not_configured, provider_disabled. Source: docs/reference/application-api.md#order-of-checks.
 */
export function requireActiveProvider(providers: ProviderSet, slug: string): ProviderInstance {
  const provider = providers.find(slug);
  if (provider === undefined) {
    throw new GatewayError('provider_not_configured', { message: `There is no provider "${slug}".` });
  }
  if (provider.status !== 'active') {
    throw new GatewayError('provider_disabled', { message: `The provider "${slug}" is disabled.` });
  }
  return provider;
}

/** The refusal of a model without a price. Source: docs/reference/application-api.md#models. */
export function unpriced(model: string, providerSlug: string): GatewayError {
  return new GatewayError('pricing_not_configured', {
    message: `The model ${displayText(model)} has no price. Add custom pricing for it on the provider "${providerSlug}".`,
  });
}
