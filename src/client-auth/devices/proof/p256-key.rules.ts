import { proofRefused } from '../proof-refusal.js';
import { sha256 } from './signed-data.rules.js';

/** The SPKI prefix of every P-256 key, up to the point: algorithm, curve, bit string, uncompressed. */
const P256_SPKI_START = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d03010703420004', 'hex');
const POINT_BYTES = 65;
const P256_SPKI_BYTES = P256_SPKI_START.length - 1 + POINT_BYTES;

/**
 * A P-256 key; the hash of its point must be the key id. Whether the point is on the curve shows when it is imported.
 *
 * @param spki DER; absent: no key could be read.
 * @throws attest_failed
 */
export function p256KeyOf(spki: Buffer | undefined, keyId: string): Buffer {
  const isP256 = spki?.length === P256_SPKI_BYTES && spki.indexOf(P256_SPKI_START) === 0;
  if (!isP256) throw proofRefused('public_key_unusable');
  if (sha256(spki.subarray(-POINT_BYTES)).toString('base64') !== keyId) throw proofRefused('key_id_mismatch');
  return spki;
}
