import { createHash } from 'node:crypto';
import type { AppAttest, AttestEnvironment } from '../../../app-directory/config/app-attest-config.js';
import { proofRefused } from '../proof-refusal.js';

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
 * The client data of an assertion or a signature: a JSON text that the client builds by plain interpolation. It is
 * built the same way here, because a serializer might escape the slashes of a key id.
 *
 * Source: docs/reference/application-api.md#device-attestation.
 */
export function clientDataText({ appId, challenge, keyId }: AssertionClientData): string {
  return `{"app":"${appId}","challenge":"${challenge}","key_id":"${keyId}"}`;
}

/** The client data hash of an assertion. */
export function assertionClientDataHash(data: AssertionClientData): Buffer {
  return sha256(clientDataText(data));
}

const FRAMEWORK_PURPOSE = 'anthropic-app-attest-token-v1';

/**
 * The client data hash of an assertion of the framework's client.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
export function frameworkClientDataHash({ appId, challenge, keyId }: AssertionClientData): Buffer {
  return sha256(FRAMEWORK_PURPOSE, Buffer.from(challenge, 'base64url'), appId, Buffer.from(keyId, 'base64'));
}

const COUNTER_OFFSET = 33;
const ASSERTED_BYTES = 37;
const AAGUID_OFFSET = 37;
const CREDENTIAL_LENGTH_OFFSET = 53;
const CREDENTIAL_OFFSET = 55;
const CREDENTIAL_BYTES = 32;
const ATTESTED_BYTES = CREDENTIAL_OFFSET + CREDENTIAL_BYTES;

const AAGUIDS: ReadonlyMap<string, AttestEnvironment> = new Map([
  [Buffer.from('appattestdevelop').toString('hex'), 'development'],
  [Buffer.from('appattest\0\0\0\0\0\0\0').toString('hex'), 'production'],
]);

/**
 * The sign counter of authenticator data for this application.
 *
 * @returns 0 to 2^32 - 1.
 * @throws attest_failed fewer than 37 bytes, or another application's.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function requireCounter(bytes: Buffer, app: AppAttest): number {
  if (bytes.length < ASSERTED_BYTES) throw proofRefused('authenticator_data_invalid');
  if (!bytes.subarray(0, 32).equals(sha256(`${app.team_id}.${app.bundle_id}`))) throw proofRefused('app_mismatch');
  return bytes.readUInt32BE(COUNTER_OFFSET);
}

/**
 * The environment of an unused key of this application. The flags and the bytes after the credential id are ignored.
 *
 * @throws attest_failed fewer than 87 bytes, another application, a non-zero counter, an environment that the
 * application does not allow, or another key.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function requireFreshKey(bytes: Buffer, app: AppAttest, keyId: string): AttestEnvironment {
  if (bytes.length < ATTESTED_BYTES) throw proofRefused('authenticator_data_invalid');
  if (requireCounter(bytes, app) !== 0) throw proofRefused('counter_not_zero');
  const environment = AAGUIDS.get(bytes.toString('hex', AAGUID_OFFSET, CREDENTIAL_LENGTH_OFFSET));
  if (environment === undefined) throw proofRefused('environment_unknown');
  if (!app.environments.includes(environment)) throw proofRefused('environment_not_allowed');
  const credential = bytes.toString('base64', CREDENTIAL_OFFSET, ATTESTED_BYTES);
  if (bytes.readUInt16BE(CREDENTIAL_LENGTH_OFFSET) !== CREDENTIAL_BYTES || credential !== keyId) {
    throw proofRefused('credential_id_mismatch');
  }
  return environment;
}
