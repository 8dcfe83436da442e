import type { AppAttest } from '../../../app-directory/config/app-attest-config.js';
import { DOTTED_NUMBERS, isBelowVersion } from '../../../common/dotted-version.rules.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { proofRefused } from '../proof-refusal.js';
import type { AppAttestFacts } from './signals.rules.js';

/** The requirements of a configuration for App Attest. */
export interface AppAttestPolicy extends Pick<AppAttest, 'environments'> {
  readonly allowed_categories?: readonly number[];
  readonly min_bundle_version?: string;
  readonly require_signals?: boolean;
}

/**
 * Checks the facts of an App Attest key. A missing signal fails only if signals are required; so does a version that
 * cannot be compared.
 *
 * @throws attest_failed; app_version_too_old.
 * Source: docs/reference/security.md#signals-of-ios-and-macos-27.
 */
export function requireAppAttestPolicy(facts: AppAttestFacts, policy: AppAttestPolicy): void {
  const { category, bundle_version: version } = facts;
  const { allowed_categories: allowed, min_bundle_version: minimum, require_signals: isRequired = false } = policy;
  if (!policy.environments.includes(facts.environment)) throw proofRefused('environment_not_allowed');
  if (isRequired && (category === null || version === null)) throw proofRefused('signals_missing');
  if (allowed !== undefined && category !== null && !allowed.includes(category)) {
    throw proofRefused('category_not_allowed');
  }
  if (minimum === undefined || version === null) return;
  const isReadable = DOTTED_NUMBERS.test(version);
  if (!isReadable && isRequired) throw proofRefused('bundle_version_unreadable');
  if (isReadable && isBelowVersion(version, minimum)) throw bundleTooOld(minimum);
}

function bundleTooOld(minimum: string): GatewayError {
  return new GatewayError('app_version_too_old', {
    message: `The app is too old: its bundle version must be at least ${minimum}. Update the app.`,
    reason: 'bundle_version_too_low',
    data: { minimum, kind: 'bundle_version' },
  });
}
