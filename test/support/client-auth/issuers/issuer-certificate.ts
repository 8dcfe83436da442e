import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** What a TLS server of the loopback needs, and what its callers must trust. */
export interface LoopbackCertificate {
  /** PEM; its own root. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** A certificate for `https://127.0.0.1`, or for a host name, valid for an hour, that vouches for itself. */
export async function loopbackCertificate(host?: string): Promise<LoopbackCertificate> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // Unique: OpenSSL finds a trusted certificate by its name, and may take another of the same name for it.
    name: `CN=${crypto.randomUUID()}`,
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new SubjectAlternativeNameExtension([
        host === undefined ? { type: 'ip', value: '127.0.0.1' } : { type: 'dns', value: host },
      ]),
    ],
  });
  const privateKey = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { certificate: certificate.toString('pem'), privateKey: PemConverter.encode(privateKey, 'PRIVATE KEY') };
}
