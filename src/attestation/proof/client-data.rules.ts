import { createHash } from 'node:crypto';

/** SHA-256 of the concatenated pieces. */
export function sha256(...pieces: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

/**
 * The client data hash of an attestation: the hash of the decoded challenge.
 *
 * @param challenge base64url, as issued.
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function attestationClientDataHash(challenge: string): Buffer {
  return sha256(Buffer.from(challenge, 'base64url'));
}

/** The members of the signed text of an assertion. */
export interface AssertionClientData {
  readonly appId: string;
  /** As issued. */
  readonly challenge: string;
  readonly keyId: string;
}

/**
 * The client data hash of an assertion: the hash of a JSON text that the client builds by plain interpolation. It is
 * built the same way here, because a serializer might escape the slashes of a key id.
 *
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function assertionClientDataHash({ appId, challenge, keyId }: AssertionClientData): Buffer {
  return sha256(`{"app":"${appId}","challenge":"${challenge}","key_id":"${keyId}"}`);
}
