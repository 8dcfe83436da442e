import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { KnownProvider } from '../app-directory/config/app-references.rules.js';
import { policyFor } from '../app-directory/config/provider-policy.rules.js';

/** What no check of an application can show; said in every answer. Source: Specification, "GET /v1/admin/apps/{app}/check". */
export const CHECK_LIMITATIONS: readonly string[] = [
  'Nothing was sent to a model: the check makes no inference call.',
  'Device attestation on hardware, sign-in at the issuer, subscription entitlements and upstream credentials were not exercised.',
];

/** The providers of the account that the routing covers, disabled ones included, in the account's order. */
export function reachedProviders(config: AppConfig, providers: readonly KnownProvider[]): readonly KnownProvider[] {
  return providers.filter((provider) => policyFor(config, provider) !== undefined);
}

/**
 * Whether calls can succeed: the application is active and so is at least one provider its routing covers.
 * Source: Specification, "States and transitions".
 */
export function isReady(status: AppStatus, reached: readonly Pick<KnownProvider, 'status'>[]): boolean {
  return status === 'active' && reached.some((provider) => provider.status === 'active');
}
