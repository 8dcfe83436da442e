import { type KeyObject, X509Certificate } from 'node:crypto';
import { type CertificateFields, readCertificateFields, readName } from '../certificates/certificate-fields.rules.js';
import { DerMismatch } from '../certificates/der-values.rules.js';
import { proofRefused } from '../proof-refusal.js';

/** The object identifier 1.3.6.1.4.1.11129.2.1.17. */
const ATTESTATION = '2b06010401d679020111';
/** The object identifiers 2.5.4.3, 2.5.4.5 and 2.5.4.10. */
const COMMON_NAME = '550403';
const SERIAL_NUMBER = '550405';
const ORGANIZATION = '55040a';
const REMOTE_AUTHORITY = { [COMMON_NAME]: 'Droid CA2', [ORGANIZATION]: 'Google LLC' };
const STRONGBOX = 'strongbox';

/** A trust anchor: only a public key, because several certificates exist for one key. */
export interface AndroidRoot {
  readonly subject: string;
  readonly key: KeyObject;
  /** SPKI, DER. */
  readonly spki: Buffer;
}

/** How the attesting key was provisioned. */
export type Provisioning = 'factory' | 'remote' | 'unknown';

/** Certificates as sent, leaf first, root last, with their unverified content. */
export interface AndroidChain {
  readonly der: readonly Buffer[];
  readonly leaf: CertificateFields;
  /** From the one that attests to the one below the root. */
  readonly intermediates: readonly CertificateFields[];
  readonly root: CertificateFields;
  /** Value of the leaf's attestation extension. */
  readonly attestation: Buffer;
}

/**
 * Reads a chain in which only the leaf has the attestation extension: a chain that continues below an attested key was
 * extended by its holder.
 *
 * @throws attest_failed
 * Source: docs/reference/security.md#android-key-attestation.
 */
export function readAndroidChain(der: readonly Buffer[]): AndroidChain {
  const [leaf, ...others] = der.map(readSent);
  const root = others.at(-1);
  if (leaf === undefined) throw proofRefused('certificate_unreadable');
  const [attestation, ...further] = attestationsOf(leaf);
  const isElsewhere = others.some((certificate) => attestationsOf(certificate).length > 0);
  if (isElsewhere) throw proofRefused(attestation === undefined ? 'extension_elsewhere' : 'chain_extended');
  if (attestation === undefined || further.length > 0) throw proofRefused('extension_missing');
  if (root === undefined) throw proofRefused('certificate_untrusted');
  return { der, leaf, intermediates: others.slice(0, -1), root, attestation };
}

/**
 * The trusted root whose key the last certificate has. Its validity is not checked.
 *
 * @throws attest_failed
 */
export function requireAndroidRoot({ root }: AndroidChain, roots: readonly AndroidRoot[]): AndroidRoot {
  const trusted = roots.find(({ spki }) => spki.equals(root.publicKey));
  if (trusted === undefined || !root.issuer.equals(root.subject)) throw proofRefused('certificate_untrusted');
  return trusted;
}

/** Of the certificates, leaf first. */
export function serialsOf({ leaf, intermediates, root }: AndroidChain): readonly string[] {
  return [leaf, ...intermediates, root].map(({ serial }) => serial);
}

/** Determined by the certificates below the root, whose own name says nothing about it. */
export function provisioningOf({ intermediates }: AndroidChain): Provisioning {
  const top = intermediates.at(-1);
  const isRemote = Object.entries(REMOTE_AUTHORITY).every(
    ([type, value]) => top !== undefined && has(top, type, value),
  );
  if (isRemote) return 'remote';
  return intermediates.some((certificate) => has(certificate, SERIAL_NUMBER)) ? 'factory' : 'unknown';
}

/** Whether a certificate between leaf and root names StrongBox. */
export function isCertifiedStrongBox({ intermediates }: AndroidChain): boolean {
  return intermediates.some((certificate) =>
    subjectOf(certificate).some(({ value }) => value.toLowerCase().includes(STRONGBOX)),
  );
}

/**
 * Verifies names, signatures and times, from the root down, so that nothing is imported below an invalid signature. The
 * times of the leaf are set by the device; those of the root are ignored; a factory's key may be used after its
 * certificates expire.
 *
 * @param atMs milliseconds since the epoch.
 * @returns the key of the leaf.
 * @throws attest_failed
 * Source: docs/reference/security.md#android-key-attestation.
 */
export function requireAndroidSignatures(chain: AndroidChain, root: AndroidRoot, atMs: number): KeyObject {
  requireNames(chain);
  const below = chain.der.slice(0, -1).toReversed();
  const certificates: X509Certificate[] = [];
  const key = below.reduce((issuerKey, der, depth) => {
    const certificate = importSent(der);
    if (!isSignedBy(certificate, issuerKey)) throw proofRefused('certificate_signature_invalid');
    // Attesting keys of some factories are not marked as authorities; the certificates above them always are.
    if (depth < below.length - 2 && !certificate.ca) throw proofRefused('certificate_authority_invalid');
    certificates.push(certificate);
    return keyOf(certificate);
  }, root.key);
  requireInForce(certificates.slice(0, -1), provisioningOf(chain), atMs);
  return key;
}

function requireInForce(certificates: readonly X509Certificate[], provisioning: Provisioning, atMs: number): void {
  for (const { validFromDate, validToDate } of certificates) {
    const isExpired = provisioning !== 'factory' && validToDate.getTime() < atMs;
    if (validFromDate.getTime() > atMs || isExpired) throw proofRefused('certificate_not_in_force');
  }
}

function requireNames({ leaf, intermediates, root }: AndroidChain): void {
  const above = [...intermediates, root];
  const isBroken = [leaf, ...intermediates].some(({ issuer }, index) => !above[index]?.subject.equals(issuer));
  if (isBroken) throw proofRefused('certificate_issuer_mismatch');
}

function attestationsOf({ extensions }: CertificateFields): Buffer[] {
  return extensions.filter(({ id }) => id === ATTESTATION).map(({ value }) => value);
}

function has(certificate: CertificateFields, type: string, value?: string): boolean {
  return subjectOf(certificate).some((part) => part.type === type && (value === undefined || part.value === value));
}

const readSent = (der: Buffer) => readOrRefuse(() => readCertificateFields(der));
const subjectOf = ({ subject }: CertificateFields) => readOrRefuse(() => readName(subject));

function readOrRefuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DerMismatch) throw proofRefused('certificate_unreadable', error);
    throw error;
  }
}

function importSent(der: Buffer): X509Certificate {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch (error) {
    throw proofRefused('certificate_unreadable', error);
  }
  // The library looks for PEM first, and could find another certificate within these bytes.
  if (!certificate.raw.equals(der)) throw proofRefused('certificate_unreadable');
  return certificate;
}

/** A signature algorithm that does not match the key is not a failure of the service. */
function isSignedBy(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.verify(key);
  } catch {
    return false;
  }
}

function keyOf(certificate: X509Certificate): KeyObject {
  try {
    return certificate.publicKey;
  } catch (error) {
    throw proofRefused('public_key_unusable', error);
  }
}
