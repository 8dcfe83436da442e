import type { KeyObject } from 'node:crypto';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { proofRefused } from '../proof-refusal.js';
import { type Certificate, isInForce, readCertificate } from './certificate.rules.js';

/** Real certificates have about 1 KiB. */
const MAX_CERTIFICATE_BYTES = 8 * 1024;
const PEM_START = '-----BEGIN CERTIFICATE-----';
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----\s([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** A trust anchor. */
export interface TrustedRoot {
  readonly certificate: Certificate;
  readonly key: KeyObject;
}

/** The trust anchors and the time of the verification. */
export interface Trust {
  readonly roots: readonly TrustedRoot[];
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

/** The two certificates of an attestation. */
export interface CertificateChain {
  readonly leaf: Certificate;
  readonly intermediate: Certificate;
}

/**
 * Reads all certificates of a PEM text; other blocks and text between them are skipped.
 *
 * @returns at least one.
 * @throws Error for no certificate, an unreadable one, or one whose key is not an elliptic-curve key.
 */
export function readTrustedRoots(pem: string): readonly TrustedRoot[] {
  const blocks = Array.from(pem.matchAll(PEM_CERTIFICATE), ([, base64 = '']) => Buffer.from(base64, 'base64'));
  if (blocks.length === 0 || blocks.length < pem.split(PEM_START).length - 1) throw new TypeError('not certificates');
  return blocks.map((der) => {
    const certificate = readCertificate(der);
    const key = certificate.ecKey();
    if (key === undefined) throw new TypeError('not an elliptic-curve key');
    return { certificate, key };
  });
}

/**
 * Reads the two certificates and checks everything except the signatures.
 *
 * @throws attest_failed unreadable, outside the validity, a leaf not issued by the intermediate, an intermediate that
 * is not a CA, or a leaf that claims to be one. Source: docs/reference/security.md#attestation-checks.
 */
export function requireChain(leafDer: Buffer, intermediateDer: Buffer, atMs: number): CertificateChain {
  const chain = { leaf: readSent(leafDer), intermediate: readSent(intermediateDer) };
  const { leaf, intermediate } = chain;
  if (!isInForce(leaf, atMs) || !isInForce(intermediate, atMs)) throw proofRefused('certificate_not_in_force');
  if (leaf.issuer !== intermediate.subject) throw proofRefused('certificate_issuer_mismatch');
  if (!intermediate.isAuthority || leaf.claimsAuthority) throw proofRefused('certificate_authority_invalid');
  return chain;
}

/**
 * The trusted roots within their validity. It runs before any check of the device's certificates: without a valid root,
 * the service's clock or its roots are wrong, and the device's certificates would fail for the same reason.
 *
 * @returns at least one.
 * @throws internal_error
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function requireRoots({ roots, atMs }: Trust): readonly TrustedRoot[] {
  const inForce = roots.filter(({ certificate }) => isInForce(certificate, atMs));
  if (inForce.length > 0) return inForce;
  throw new GatewayError('internal_error', { reason: 'attestation_root_not_in_force' });
}

/**
 * Verifies the signatures from a trusted root down.
 *
 * @param roots from {@link requireRoots}.
 * @throws attest_failed no trusted root signed the intermediate, the intermediate's key is unusable, or the
 * intermediate did not sign the leaf.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function requireTrustedSignatures(
  { leaf, intermediate }: CertificateChain,
  roots: readonly TrustedRoot[],
): void {
  const isTrusted = roots.some(
    (root) => root.certificate.subject === intermediate.issuer && intermediate.isSignedBy(root.key),
  );
  if (!isTrusted) throw proofRefused('certificate_untrusted');
  const issuerKey = intermediate.ecKey();
  if (issuerKey === undefined) throw proofRefused('public_key_unusable');
  if (!leaf.isSignedBy(issuerKey)) throw proofRefused('certificate_signature_invalid');
}

function readSent(der: Buffer): Certificate {
  if (der.length > MAX_CERTIFICATE_BYTES) throw proofRefused('certificate_unreadable');
  try {
    return readCertificate(der);
  } catch (error) {
    throw proofRefused('certificate_unreadable', error);
  }
}
