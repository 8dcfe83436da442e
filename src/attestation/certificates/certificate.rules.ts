import { type KeyObject, X509Certificate } from 'node:crypto';
import { claimsAuthority } from './certificate-extension.rules.js';

/** What a certificate says. */
export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** May sign certificates. */
  readonly isAuthority: boolean;
  /** Says that it may, rightly or not. */
  readonly claimsAuthority: boolean;
  /** As it was sent, DER. */
  readonly bytes: Buffer;
  /** True when this key made its signature. */
  isSignedBy(issuerKey: KeyObject): boolean;
  /**
   * Its key; `undefined` for one that is no elliptic-curve key, such as a point beside its curve. To be asked of
   * certificates that are trusted: what a key says of itself can be costly to read.
   */
  ecKey(): KeyObject | undefined;
}

/**
 * Reads one certificate.
 *
 * @param der nothing before it, nothing after it.
 * @throws Error for bytes that are no certificate.
 */
export function readCertificate(der: Buffer): Certificate {
  const certificate = new X509Certificate(der);
  // The library looks for PEM first, and so might have found another certificate within these bytes.
  if (!certificate.raw.equals(der)) throw new TypeError('not the DER of a certificate');
  return {
    subject: nameOf(certificate.subject),
    issuer: nameOf(certificate.issuer),
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    isAuthority: certificate.ca,
    claimsAuthority: claimsAuthority(der),
    bytes: der,
    isSignedBy: (issuerKey) => certificate.verify(issuerKey),
    ecKey: () => ecKeyOf(certificate),
  };
}

/** True at both ends of the validity too. Source: RFC 5280 4.1.2.5. */
export function isInForce({ notBeforeMs, notAfterMs }: Certificate, atMs: number): boolean {
  return notBeforeMs <= atMs && atMs <= notAfterMs;
}

function ecKeyOf(certificate: X509Certificate): KeyObject | undefined {
  let key: KeyObject;
  try {
    key = certificate.publicKey;
  } catch {
    return undefined;
  }
  return key.asymmetricKeyType === 'ec' ? key : undefined;
}

/** One line; the library writes one for each part of a name, and escapes line ends within them. */
function nameOf(lines: string): string {
  return lines.replaceAll('\n', ', ');
}
