import type { KeyAttestation } from '../../../app-directory/config/device-proofs-config.js';
import { p256KeyOf } from '../proof/p256-key.rules.js';
import { proofRefused } from '../proof-refusal.js';
import {
  type AndroidChain,
  type AndroidRoot,
  isCertifiedStrongBox,
  provisioningOf,
  requireAndroidRoot,
  requireAndroidSignatures,
  serialsOf,
} from './android-chain.rules.js';
import { type KeyDescription, readApplication, readKeyDescription } from './key-description.rules.js';
import { type KeyAttestationFacts, requireAttestedApp, requireKeyPolicy } from './key-policy.rules.js';
import { readIssuedCount } from './provisioning-info.rules.js';

const TRUSTED_ENVIRONMENT = 1;
const STRONGBOX = 2;
const EC = 3;
const P256 = 1;
const GENERATED = 0;
/** Sign and verify. */
const PURPOSES: ReadonlySet<number> = new Set([2, 3]);

/** The expected values of an attested key. */
export interface ExpectedKey {
  readonly policy: KeyAttestation;
  readonly keyId: string;
  /** The bytes of the challenge. */
  readonly challenge: Buffer;
  /** Receives the facts of the attestation before the policy checks them, even if the policy refuses them. */
  noteFacts?(facts: KeyAttestationFacts): void;
}

/** The trust anchors and the time of the verification. */
export interface AndroidTrust {
  readonly roots: readonly AndroidRoot[];
  /** Revoked serial numbers. */
  readonly revoked: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** An attested key of an Android device. */
export interface AttestedAndroidKey {
  /** SPKI, DER in base64. */
  readonly publicKey: string;
  readonly facts: KeyAttestationFacts;
  /** Serial numbers of the certificates, leaf first: lower-case hex without leading zeros. */
  readonly serials: readonly string[];
}

/**
 * Verifies a certificate chain. Cheap checks run first: key, challenge, application, root and revocation before any
 * signature.
 *
 * @throws attest_failed any check fails; app_version_too_old.
 * Source: docs/reference/security.md#android-key-attestation.
 */
export function verifyKeyAttestation(
  chain: AndroidChain,
  { policy, keyId, challenge, noteFacts }: ExpectedKey,
  { roots, revoked, atMs }: AndroidTrust,
): AttestedAndroidKey {
  const key = p256KeyOf(chain.leaf.publicKey, keyId);
  const description = readKeyDescription(chain.attestation);
  if (!description.challenge.equals(challenge)) throw proofRefused('challenge_mismatch');
  const app = requireApplication(description, policy);
  const root = requireAndroidRoot(chain, roots);
  const serials = serialsOf(chain);
  if (serials.some((serial) => revoked.has(serial))) throw proofRefused('certificate_revoked');
  requireAndroidSignatures(chain, root, atMs);
  requireHardwareKey(description);
  const facts = { ...app, ...factsOf(chain, description) };
  noteFacts?.(facts);
  requireKeyPolicy(facts, policy);
  return { publicKey: key.toString('base64'), facts, serials };
}

function requireApplication({ applicationId }: KeyDescription, policy: KeyAttestation) {
  if (applicationId === undefined) throw proofRefused('application_id_missing');
  return requireAttestedApp(readApplication(applicationId), policy);
}

/** The key was made by the device's hardware, stays there, and signs with P-256. */
function requireHardwareKey({ origin, purposes, algorithm, curve }: KeyDescription): void {
  if (origin !== GENERATED) throw proofRefused('key_not_generated');
  if (purposes.length === 0 || !purposes.every((purpose) => PURPOSES.has(purpose))) {
    throw proofRefused('key_purpose_invalid');
  }
  if (algorithm !== EC || curve !== P256) throw proofRefused('public_key_unusable');
}

function factsOf(chain: AndroidChain, description: KeyDescription) {
  const { rootOfTrust, osPatch } = description;
  if (rootOfTrust === undefined) throw proofRefused('root_of_trust_missing');
  if (!rootOfTrust.isLocked) throw proofRefused('bootloader_unlocked');
  return {
    security_level: levelOf(chain, description),
    boot: rootOfTrust.bootState,
    os_patch: osPatch ?? null,
    provisioning: provisioningOf(chain),
    certificates_issued: readIssuedCount(chain.intermediates[0]) ?? null,
  };
}

/** The lower of the two: on some phones the attestation has a lower security level than the key. */
function levelOf(chain: AndroidChain, { attestationLevel, keyMintLevel }: KeyDescription): 'tee' | 'strongbox' {
  if (attestationLevel < TRUSTED_ENVIRONMENT || keyMintLevel < TRUSTED_ENVIRONMENT) {
    throw proofRefused('security_level_software');
  }
  if (attestationLevel > keyMintLevel || keyMintLevel > STRONGBOX) throw proofRefused('security_level_mismatch');
  if (attestationLevel === TRUSTED_ENVIRONMENT) return 'tee';
  if (!isCertifiedStrongBox(chain)) throw proofRefused('strongbox_not_certified');
  return 'strongbox';
}
