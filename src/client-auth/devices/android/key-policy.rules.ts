import type { KeyAttestation } from '../../../app-directory/config/device-proofs-config.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { proofRefused } from '../proof-refusal.js';
import type { Provisioning } from './android-chain.rules.js';
import type { AttestedApplication, BootState } from './key-description.rules.js';

/** The application that a key was attested for, if it matches the configuration. */
interface AttestedApp {
  readonly package_name: string;
  readonly version_code: number;
  /** SHA-256 of those signing certificates that are configured, in hex. */
  readonly signing_certificates: readonly string[];
}

/**
 * The facts of an attested key that policies check, stored with it: each exchange checks them against the current
 * configuration.
 */
export interface KeyAttestationFacts extends AttestedApp {
  readonly security_level: 'tee' | 'strongbox';
  readonly boot: BootState;
  /** YYYYMM. */
  readonly os_patch: number | null;
  readonly provisioning: Provisioning;
  readonly certificates_issued: number | null;
}

/**
 * The configured application among those that may use a key; others are tolerated, because applications can share a
 * system user id. Of several the newest counts.
 *
 * @throws attest_failed
 */
export function requireAttestedApp(application: AttestedApplication, policy: KeyAttestation): AttestedApp {
  const [found] = application.packages
    .filter(({ name }) => policy.package_names.includes(name))
    .toSorted((one, other) => other.versionCode - one.versionCode);
  if (found === undefined) throw proofRefused('package_not_allowed');
  const certificates = application.signingCertificates.filter((hash) => policy.signing_certificates.includes(hash));
  if (certificates.length === 0) throw proofRefused('signing_certificate_not_allowed');
  return {
    package_name: found.name,
    version_code: found.versionCode,
    signing_certificates: [...new Set(certificates)],
  };
}

/**
 * Checks the facts of a key against the configuration.
 *
 * @throws attest_failed; app_version_too_old.
 * Source: docs/reference/security.md#android-key-attestation.
 */
export function requireKeyPolicy(facts: KeyAttestationFacts, policy: KeyAttestation): void {
  if (!policy.package_names.includes(facts.package_name)) throw proofRefused('package_not_allowed');
  if (!facts.signing_certificates.some((hash) => policy.signing_certificates.includes(hash))) {
    throw proofRefused('signing_certificate_not_allowed');
  }
  if (policy.min_security_level === 'strongbox' && facts.security_level !== 'strongbox') {
    throw proofRefused('security_level_too_low');
  }
  if (policy.verified_boot && facts.boot !== 'verified') throw proofRefused('boot_not_verified');
  if (policy.min_os_patch !== undefined && (facts.os_patch ?? 0) < policy.min_os_patch) {
    throw proofRefused('os_patch_too_old');
  }
  if (policy.provisioning === 'remote' && facts.provisioning !== 'remote') {
    throw proofRefused('provisioning_not_remote');
  }
  requireVersionCode(facts, policy);
}

function requireVersionCode({ version_code }: KeyAttestationFacts, { min_version_code }: KeyAttestation): void {
  if (min_version_code === undefined || version_code >= min_version_code) return;
  throw new GatewayError('app_version_too_old', {
    message: `The app is too old: its version code must be at least ${min_version_code}. Update the app.`,
    reason: 'version_code_too_low',
    data: { minimum: min_version_code, kind: 'version_code' },
  });
}
