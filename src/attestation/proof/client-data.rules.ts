import { createHash } from 'node:crypto';

/** SHA-256 of the pieces, one after the other. */
export function sha256(...pieces: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/**
 * What the device was given when it attested its key: the hash of the challenge's own bytes.
 *
 * @param challenge base64url, as it was issued.
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function attestationClientDataHash(challenge: string): Buffer {
  return sha256(Buffer.from(challenge, 'base64url'));
}

/** What an assertion is about. */
export interface AssertionClientData {
  readonly appId: string;
  /** As it was issued. */
  readonly challenge: string;
  readonly keyId: string;
}

/**
 * What the device was given when it signed: the hash of a JSON text that the client builds by plain interpolation. So
 * it is built here: a serializer might escape the slashes of a key id.
 *
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function assertionClientDataHash({ appId, challenge, keyId }: AssertionClientData): Buffer {
  return sha256(`{"app":"${appId}","challenge":"${challenge}","key_id":"${keyId}"}`);
}
