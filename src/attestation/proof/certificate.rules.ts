import 'reflect-metadata';
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { BasicConstraintsExtension, X509Certificate } from '@peculiar/x509';
import { splitSigned } from './der.rules.js';

const HASHES: ReadonlyMap<unknown, string> = new Map([
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

interface NamedAlgorithm {
  readonly name?: unknown;
}

/** What a certificate says. */
export interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** May sign certificates. */
  readonly isAuthority: boolean;
  /** SPKI, DER. */
  readonly publicKey: Buffer;
  /** Values by object identifier. */
  readonly extensions: ReadonlyMap<string, Buffer>;
  readonly signed: Buffer;
  readonly signature: Buffer;
  readonly signatureHash: string;
}

/**
 * Reads one certificate that is signed with ECDSA.
 *
 * @param der nothing before it, nothing after it.
 * @throws Error for bytes that are no such certificate, or that give one extension twice.
 */
export function readCertificate(der: Buffer): Certificate {
  const parts = splitSigned(der);
  if (parts === undefined) throw new TypeError('not the DER of a certificate');
  const certificate = new X509Certificate(der);
  return {
    subject: certificate.subject,
    issuer: certificate.issuer,
    notBeforeMs: certificate.notBefore.getTime(),
    notAfterMs: certificate.notAfter.getTime(),
    isAuthority: certificate.getExtension(BasicConstraintsExtension)?.ca === true,
    publicKey: Buffer.from(certificate.publicKey.rawData),
    extensions: extensionsOf(certificate),
    ...parts,
    signatureHash: signatureHashOf(certificate),
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

function extensionsOf(certificate: X509Certificate): ReadonlyMap<string, Buffer> {
  const extensions = new Map(certificate.extensions.map(({ type, value }) => [type, Buffer.from(value)]));
  if (extensions.size < certificate.extensions.length) throw new TypeError('extension given twice');
  return extensions;
}

function signatureHashOf(certificate: X509Certificate): string {
  const algorithm: NamedAlgorithm & { readonly hash: NamedAlgorithm } = certificate.signatureAlgorithm;
  const known = algorithm.name === 'ECDSA' ? HASHES.get(algorithm.hash.name) : undefined;
  if (known === undefined) throw new TypeError('signature algorithm');
  return known;
}
