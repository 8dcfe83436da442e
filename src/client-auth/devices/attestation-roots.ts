import { readFileSync } from 'node:fs';
import type { Log } from '../../common/log/log.js';
import { type Environment, EnvironmentError } from '../../platform/config/environment.js';
import { readTrustedRoots, type TrustedRoot } from './certificates/certificate-chain.rules.js';

/**
 * The vendor's "App Attestation Root CA", a public certificate.
 *
 * Source: docs/reference/security.md#attestation-checks.
 */
export const VENDOR_ROOT = `-----BEGIN CERTIFICATE-----
MIICITCCAaegAwIBAgIQC/O+DvHN0uD7jG5yH2IXmDAKBggqhkjOPQQDAzBSMSYw
JAYDVQQDDB1BcHBsZSBBcHAgQXR0ZXN0YXRpb24gUm9vdCBDQTETMBEGA1UECgwK
QXBwbGUgSW5jLjETMBEGA1UECAwKQ2FsaWZvcm5pYTAeFw0yMDAzMTgxODMyNTNa
Fw00NTAzMTUwMDAwMDBaMFIxJjAkBgNVBAMMHUFwcGxlIEFwcCBBdHRlc3RhdGlv
biBSb290IENBMRMwEQYDVQQKDApBcHBsZSBJbmMuMRMwEQYDVQQIDApDYWxpZm9y
bmlhMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdh
NbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQUBHAoMeQ/cLiP1sOUtgjqK9au
Yen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41o0IwQDAPBgNVHRMBAf8EBTADAQH/
MB0GA1UdDgQWBBSskRBTM72+aEH/pwyp5frq5eWKoTAOBgNVHQ8BAf8EBAMCAQYw
CgYIKoZIzj0EAwMDaAAwZQIwQgFGnByvsiVbpTKwSga0kP0e8EeDS4+sQmTvb7vn
53O5+FRXgeLhpJ06ysC5PrOyAjEAp5U4xDgEgllF7En3VcE3iexZZtKeYnpqtijV
oyFraWVIyd/dganmrduC1bmTBGwD
-----END CERTIFICATE-----`;

/** The trust anchors of attestation certificate chains; a chain must reach one of them. */
export class AttestationRoots {
  constructor(readonly roots: readonly TrustedRoot[]) {}
}

/**
 * The vendor's root, or the operator's certificates in its place (`APP_ATTEST_ROOT_CA_FILE`). It runs at startup, which
 * fails if the file is invalid.
 *
 * @throws EnvironmentError naming the variable.
 */
export function attestationRootsOf(environment: Environment, log: Log): AttestationRoots {
  const file = environment.APP_ATTEST_ROOT_CA_FILE;
  if (file === undefined) return new AttestationRoots(readTrustedRoots(VENDOR_ROOT));
  let roots: readonly TrustedRoot[];
  try {
    roots = readTrustedRoots(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new EnvironmentError(
      'APP_ATTEST_ROOT_CA_FILE must be a readable PEM file of at least one certificate, all with ECDSA keys',
      { cause: error },
    );
  }
  log.event('app_attest_root_replaced', { file, subjects: roots.map((root) => root.certificate.subject).join('; ') });
  return new AttestationRoots(roots);
}
