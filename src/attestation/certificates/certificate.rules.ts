import { createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import { type CertificateFields, readFields } from './certificate-fields.rules.js';

/** What a certificate says. */
export interface Certificate extends CertificateFields {
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/**
 * Reads one certificate that is signed with ECDSA. Costs some tens of microseconds whatever the bytes are.
 *
 * @param der nothing before it, nothing after it.
 * @throws Error for bytes that are no such certificate, or that give one extension twice.
 */
export function readCertificate(der: Buffer): Certificate {
  const fields = readFields(der);
  const certificate = new X509Certificate(der);
  // The library looks for PEM first, and so might have found another certificate within these bytes.
  if (!certificate.raw.equals(der)) throw new TypeError('not the DER of a certificate');
  return {
    ...fields,
    subject: nameOf(certificate.subject),
    issuer: nameOf(certificate.issuer),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  };
}

/** True at both ends of the validity too. Source: RFC 5280 4.1.2.5. */
export function isInForce({ notBeforeMs, notAfterMs }: Certificate, atMs: number): boolean {
  return notBeforeMs <= atMs && atMs <= notAfterMs;
}

/** True when this elliptic-curve key made the certificate's signature. */
export function isSignedBy({ signed, signature, signatureHash }: Certificate, issuerKey: KeyObject): boolean {
  return verify(signatureHash, signed, issuerKey, signature);
}

/** @returns `undefined` for bytes that are no elliptic-curve key, such as a point beside its curve. */
export function importEcKey(spki: Buffer): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
  return key.asymmetricKeyType === 'ec' ? key : undefined;
}

/** One line; the library writes one for each part of a name, and escapes line ends within them. */
function nameOf(lines: string): string {
  return lines.replaceAll('\n', ', ');
}
