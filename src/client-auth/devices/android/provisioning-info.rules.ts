import type { CertificateFields } from '../certificates/certificate-fields.rules.js';
import { readCborMap } from '../proof/encoding.rules.js';

/** The object identifier 1.3.6.1.4.1.11129.2.1.30. */
const PROVISIONING_INFO = '2b06010401d67902011e';
const CERTIFICATES_ISSUED = 1;

/**
 * The number of certificates that the vendor recently issued to the device; a high number indicates a device farm.
 *
 * @param attesting the certificate above the leaf.
 * @returns `undefined` when it cannot be read, which is not an error.
 */
export function readIssuedCount(attesting: CertificateFields | undefined): number | undefined {
  const info = attesting?.extensions.find(({ id }) => id === PROVISIONING_INFO);
  if (info === undefined) return undefined;
  try {
    const issued = readCborMap(info.value).get(CERTIFICATES_ISSUED);
    return typeof issued === 'number' && Number.isSafeInteger(issued) ? issued : undefined;
  } catch {
    return undefined;
  }
}
