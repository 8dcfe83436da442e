import { type KeyObject, X509Certificate } from 'node:crypto';
import { elementsOf } from './der.rules.js';

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
   * Its key; `undefined` if it is not a valid elliptic-curve key. Call it on trusted certificates only, because parsing
   * a hostile key can be expensive.
   */
  ecKey(): KeyObject | undefined;
}

/**
 * Reads one certificate.
 *
 * @param der without leading or trailing bytes.
 * @throws Error for bytes that are not a certificate.
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

/** The object identifier 2.5.29.19. */
const BASIC_CONSTRAINTS = '551d13';
const BOOLEAN = 0x01;
const OBJECT_ID = 0x06;
const OCTET_STRING = 0x04;
const EXTENSIONS = 0xa3;

/**
 * The value of one certificate extension, which the platform's reader does not expose.
 *
 * @param der of a readable certificate.
 * @param name the content of the object identifier, in hex.
 * @returns `undefined` when the certificate has no extension of this name, or several.
 * Source: RFC 5280 4.1.
 */
export function findExtension(der: Buffer, name: string): Buffer | undefined {
  const [certificate] = elementsOf(der) ?? [];
  const [signed] = (certificate && elementsOf(certificate.content)) ?? [];
  const field = signed && elementsOf(signed.content)?.find(({ tag }) => tag === EXTENSIONS);
  const [list] = (field && elementsOf(field.content)) ?? [];
  const found = ((list && elementsOf(list.content)) ?? []).flatMap(({ content }) => {
    const members = elementsOf(content) ?? [];
    const [id, value] = [members.at(0), members.at(-1)];
    const isIt = id?.tag === OBJECT_ID && id.content.toString('hex') === name;
    return isIt && value?.tag === OCTET_STRING ? [value.content] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Whether the basic constraints of a certificate claim a CA, independent of its other extensions.
 *
 * @param der of a readable certificate.
 * Source: RFC 5280 4.2.1.9.
 */
function claimsAuthority(der: Buffer): boolean {
  const constraints = findExtension(der, BASIC_CONSTRAINTS);
  const [list] = (constraints && elementsOf(constraints)) ?? [];
  const [may] = (list && elementsOf(list.content)) ?? [];
  return may?.tag === BOOLEAN && may.content[0] !== 0;
}
