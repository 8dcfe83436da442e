import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { policyFor } from '../app-directory/config/provider-policy.rules.js';

/**
 * What no check of an application can show; said in every answer.
 *
 * Source: docs/reference/management-api.md#application-check.
 */
export const CHECK_LIMITATIONS: readonly string[] = [
  'Nothing was sent to a model: the check makes no inference call.',
  'Device attestation on hardware, sign-in at the issuer, subscription entitlements and upstream credentials were not exercised.',
];

/** Why an endpoint refuses every call: the error code its clients get. */
export const ENDPOINT_PROBLEMS = ['provider_not_configured', 'provider_disabled'] as const;

/** Whether a named endpoint serves. */
export interface EndpointReadiness {
  readonly slug: string;
  /** Null: it serves. */
  readonly problem: (typeof ENDPOINT_PROBLEMS)[number] | null;
}

/** The providers of the account that the routing covers, disabled ones included, in the account's order. */
export function routedProviders(config: AppConfig, providers: readonly KnownProvider[]): readonly KnownProvider[] {
  return providers.filter((provider) => policyFor(config, provider) !== undefined);
}

/**
 * The providers of the account that calls can go to, disabled ones included, in the account's order: those that the
 * routing covers, and those that endpoints name.
 */
export function reachedProviders(config: AppConfig, providers: readonly KnownProvider[]): readonly KnownProvider[] {
  const named = new Set(
    Object.values(config.endpoints).flatMap((endpoint) => [endpoint, ...endpoint.fallback].map((one) => one.provider)),
  );
  return providers.filter((provider) => named.has(provider.slug) || policyFor(config, provider) !== undefined);
}

/**
 * How each endpoint stands. Its first target decides: without it no fallback is tried.
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
 * Whether calls can succeed: the application is active, and so is a provider its routing covers, or one of its endpoints
 * serves. Source: docs/reference/management-api.md#application-check.
 */
export function isReady(status: AppStatus, config: AppConfig, providers: readonly KnownProvider[]): boolean {
  if (status !== 'active') return false;
  const isProxied = routedProviders(config, providers).some((provider) => provider.status === 'active');
  return isProxied || endpointReadiness(config, providers).some(({ problem }) => problem === null);
}
