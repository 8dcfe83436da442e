import { type KeyObject, X509Certificate } from 'node:crypto';
import { claimsAuthority } from './certificate-extension.rules.js';

/** The parsed content of a certificate. */
export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Whether the platform accepts it as a CA. */
  readonly isAuthority: boolean;
  /** Whether its basic constraints claim a CA, rightly or not. */
  readonly claimsAuthority: boolean;
  /** DER, as sent. */
  readonly bytes: Buffer;
  /** Whether this key signed it. */
  isSignedBy(issuerKey: KeyObject): boolean;
  /**
   * Its key; `undefined` when it is no valid elliptic-curve key. Call it on trusted certificates only, because parsing
   * a hostile key can be expensive.
   */
  ecKey(): KeyObject | undefined;
}

/**
 * Reads one certificate.
 *
 * @param der without leading or trailing bytes.
 * @throws Error for bytes that are no certificate.
 */
export function readCertificate(der: Buffer): Certificate {
  const certificate = new X509Certificate(der);
  // The library looks for PEM first, and could find another certificate within these bytes.
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

/** Whether a time is within the validity, both ends included. Source: RFC 5280 4.1.2.5. */
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

/** Joins the lines of a name, one per part; the library escapes line breaks within a part. */
function nameOf(lines: string): string {
  return lines.replaceAll('\n', ', ');
}
