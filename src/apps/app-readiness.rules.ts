import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { policyFor } from '../app-directory/config/provider-policy.rules.js';

/** The limits of the check, part of every response. Source: docs/reference/management-api.md#application-check. */
export const CHECK_LIMITATIONS: readonly string[] = [
  'Nothing was sent to a model: the check makes no inference call.',
  'Device attestation on hardware, sign-in at the issuer, subscription entitlements and upstream credentials were not exercised.',
];

/** Error codes with which an endpoint refuses every call. */
export const ENDPOINT_PROBLEMS = ['provider_not_configured', 'provider_disabled'] as const;

/** Readiness of a named endpoint. */
export interface EndpointReadiness {
  readonly slug: string;
  /** Null: the endpoint is ready. */
  readonly problem: (typeof ENDPOINT_PROBLEMS)[number] | null;
}

/** The account's providers that the routing covers, including disabled ones, in the account's order. */
export function routedProviders(config: AppConfig, providers: readonly KnownProvider[]): readonly KnownProvider[] {
  return providers.filter((provider) => policyFor(config, provider) !== undefined);
}

/**
 * The account's providers that calls can reach: those that the routing covers and those that endpoints name. Includes
 * disabled ones, in the account's order.
 */
export function reachedProviders(config: AppConfig, providers: readonly KnownProvider[]): readonly KnownProvider[] {
  const named = new Set(
    Object.values(config.endpoints).flatMap((endpoint) => [endpoint, ...endpoint.fallback].map((one) => one.provider)),
  );
  return providers.filter((provider) => named.has(provider.slug) || policyFor(config, provider) !== undefined);
}

/**
 * The readiness of each endpoint. Its primary target decides, because no fallback is tried without it.
 *
 * Source: docs/reference/application-api.md#endpoint-targets.
 */
export function endpointReadiness(config: AppConfig, providers: readonly KnownProvider[]): EndpointReadiness[] {
  const statuses = new Map(providers.map(({ slug, status }) => [slug, status]));
  return Object.entries(config.endpoints).map(([slug, { provider }]) => {
    const status = statuses.get(provider);
    if (status === undefined) return { slug, problem: 'provider_not_configured' };
    return { slug, problem: status === 'active' ? null : 'provider_disabled' };
  });
}

/**
 * Whether calls can succeed: the application is active, and an active provider is covered by its routing or one of its
 * endpoints is ready.
 *
 * Source: docs/reference/management-api.md#application-check.
 */
export function isReady(status: AppStatus, config: AppConfig, providers: readonly KnownProvider[]): boolean {
  if (status !== 'active') return false;
  const isProxied = routedProviders(config, providers).some((provider) => provider.status === 'active');
  return isProxied || endpointReadiness(config, providers).some(({ problem }) => problem === null);
}
