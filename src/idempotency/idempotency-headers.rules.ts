import { invalidRequest } from '../common/errors/gateway-error.js';
import { Secret } from '../common/log/secret.js';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';
export const IDEMPOTENCY_PROOF = 'X-Idempotency-Proof';

/**
 * The format of both headers, for validation and the OpenAPI document.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export const IDEMPOTENCY_TOKEN = /^[A-Za-z0-9_-]{32,256}$/;

/** The idempotency key of a creation, and the proof that a retry comes from the same client. */
export interface IdempotencyPair {
  readonly key: string;
  readonly proof: Secret;
}

/**
 * Reads the pair of headers of a creation.
 *
 * @param headers names in lower case, as Node provides them.
 * @returns `undefined` when neither is sent.
 * @throws invalid_request naming the header that is missing or malformed.
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export function readIdempotencyPair(headers: Readonly<Record<string, unknown>>): IdempotencyPair | undefined {
  const key = headers[IDEMPOTENCY_KEY.toLowerCase()];
  const proof = headers[IDEMPOTENCY_PROOF.toLowerCase()];
  if (key === undefined && proof === undefined) return undefined;
  return {
    key: requireToken(IDEMPOTENCY_KEY, key, IDEMPOTENCY_PROOF),
    proof: new Secret(requireToken(IDEMPOTENCY_PROOF, proof, IDEMPOTENCY_KEY)),
  };
}

function requireToken(name: string, sent: unknown, other: string): string {
  if (sent === undefined) throw invalidRequest(name, `is required with ${other}`, 'idempotency_header_missing');
  if (typeof sent === 'string' && IDEMPOTENCY_TOKEN.test(sent)) return sent;
  throw invalidRequest(name, 'must be 32 to 256 characters of A-Z, a-z, 0-9, _ and -', 'idempotency_header_malformed');
}
