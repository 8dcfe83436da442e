import type { AttestEnvironment } from '../../app-directory/config/app-attest-config.js';
import type { Proofs } from '../../app-directory/config/device-proofs-config.js';
import type { Reason } from '../../common/errors/reasons.js';
import { type KeyAttestationFacts, requireKeyPolicy } from './android/key-policy.rules.js';
import { type PlayIntegrityFacts, requireIntegrityPolicy } from './play/integrity-verdict.rules.js';
import { requireAppAttestPolicy } from './proof/signal-policy.rules.js';
import { type AppAttestFacts, type AppleSignals, NO_SIGNALS } from './proof/signals.rules.js';

/**
 * The facts of a proof that policies check; stored with the key and in authentication events. None of them identifies a
 * device.
 */
export type DeviceFacts = AppAttestFacts | KeyAttestationFacts | PlayIntegrityFacts;

/** Reasons for which {@link requireFacts} refuses facts. */
const POLICY_REASONS: readonly Reason[] = [
  'environment_not_allowed',
  'signals_missing',
  'category_not_allowed',
  'bundle_version_unreadable',
  'bundle_version_too_low',
  'package_not_allowed',
  'integrity_package_mismatch',
  'signing_certificate_not_allowed',
  'security_level_too_low',
  'boot_not_verified',
  'os_patch_too_old',
  'provisioning_not_remote',
  'version_code_too_low',
  'integrity_test_response',
  'app_not_evaluated',
  'app_unrecognized',
  'device_verdict_missing',
  'app_unlicensed',
  'license_not_evaluated',
];

/** Whether a refusal depends only on facts and configuration, so that it can be previewed for another configuration. */
export function isPolicyReason(reason: string): boolean {
  return POLICY_REASONS.some((one) => one === reason);
}

/** Facts as they were stored; undefined for none. */
export function readFacts(stored: unknown): DeviceFacts | undefined {
  return isFacts(stored) ? stored : undefined;
}

function isFacts(stored: unknown): stored is DeviceFacts {
  return typeof stored === 'object' && stored !== null && ('environment' in stored || 'package_name' in stored);
}

/**
 * Facts as an event has them. Those of the framework's client say so, because it claims no version.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
export function eventFacts(facts: DeviceFacts | null, isFrameworkClient: boolean): object | null {
  return isFrameworkClient ? { ...facts, framework_client: true } : facts;
}

/** Whether {@link eventFacts} are of the framework's client. */
export function isOfFrameworkClient(stored: unknown): boolean {
  return typeof stored === 'object' && stored !== null && 'framework_client' in stored;
}

/** The facts of an App Attest key without signals. */
export function plainFacts(environment: AttestEnvironment): AppAttestFacts {
  return { environment, ...NO_SIGNALS, full_security: null };
}

/**
 * Checks the facts of a key against a configuration, if it accepts the proof.
 *
 * @throws attest_failed, app_version_too_old.
 */
export function requireFacts(facts: DeviceFacts, { app_attest, key_attestation, play_integrity }: Proofs): void {
  if ('environment' in facts) {
    if (app_attest !== undefined) requireAppAttestPolicy(facts, app_attest);
  } else if ('security_level' in facts) {
    if (key_attestation !== undefined) requireKeyPolicy(facts, key_attestation);
  } else if (play_integrity !== undefined) requireIntegrityPolicy(facts, play_integrity);
}

/** The facts of an App Attest key with new or changed signals. */
export function withSignals(facts: DeviceFacts, { category, bundle_version }: AppleSignals): DeviceFacts {
  if (!('environment' in facts)) return facts;
  return {
    ...facts,
    category: category ?? facts.category,
    bundle_version: bundle_version ?? facts.bundle_version,
  };
}
