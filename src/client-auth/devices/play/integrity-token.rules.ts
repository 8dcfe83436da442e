import type { KeyObject } from 'node:crypto';
import { compactDecrypt, compactVerify, errors } from 'jose';
import { proofRefused } from '../proof-refusal.js';

/** The keys of an application for its own decoding, from Play Console. */
export interface ResponseKeys {
  /** AES, 256 bits. */
  readonly decryption: KeyObject;
  /** EC, P-256, public. */
  readonly verification: KeyObject;
}

const DECRYPTION = { keyManagementAlgorithms: ['A256KW'], contentEncryptionAlgorithms: ['A256GCM'] };
const VERIFICATION = { algorithms: ['ES256'] };
/** Five parts in base64url. */
const TOKEN = /^[\w-]+(?:\.[\w-]+){4}$/;

/**
 * Whether a text has the format of an integrity token, so that it is worth decoding.
 *
 * @throws attest_failed it does not have the format.
 */
export function requireTokenFormat(token: string): void {
  if (!TOKEN.test(token)) throw proofRefused('integrity_token_malformed');
}

/**
 * Decrypts a token and verifies the signature inside.
 *
 * @param token compact JWE (A256KW, A256GCM) of a compact JWS (ES256).
 * @returns the parsed payload.
 * @throws attest_failed with the granular reason.
 * Source: docs/reference/security.md#play-integrity, RFC 7516, RFC 7515.
 */
export async function decodeIntegrityToken(token: string, keys: ResponseKeys): Promise<unknown> {
  requireTokenFormat(token);
  const { plaintext } = await compactDecrypt(token, keys.decryption, DECRYPTION).catch((error: unknown) => {
    throw refusalOf(error, 'integrity_token_undecryptable');
  });
  const { payload } = await compactVerify(plaintext, keys.verification, VERIFICATION).catch((error: unknown) => {
    throw refusalOf(error, 'integrity_signature_invalid');
  });
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  } catch (error) {
    throw proofRefused('integrity_payload_invalid', error);
  }
}

/** @returns the refusal of a bad token; any other error is ours. */
function refusalOf(error: unknown, reason: 'integrity_token_undecryptable' | 'integrity_signature_invalid'): unknown {
  return error instanceof errors.JOSEError ? proofRefused(reason, error) : error;
}
