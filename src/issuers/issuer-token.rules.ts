import { decodeProtectedHeader } from 'jose';
import { type Claims, isClaims } from './claim-path.rules.js';
import { issuerTokenRejected } from './issuer-rejection.js';

/**
 * Accepted signatures, and the kind of key that makes each.
 *
 * Source: docs/reference/application-api.md#identity-tokens; asymmetric only.
 */
export const ISSUER_ALGORITHMS = {
  RS256: { kty: 'RSA', crv: undefined },
  PS256: { kty: 'RSA', crv: undefined },
  ES256: { kty: 'EC', crv: 'P-256' },
  ES384: { kty: 'EC', crv: 'P-384' },
  ES512: { kty: 'EC', crv: 'P-521' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
} as const;

/** The `alg` of a token that may be accepted. */
export type IssuerAlgorithm = keyof typeof ISSUER_ALGORITHMS;

/** What the header of a token says about its signature; everything else in it is ignored. */
interface TokenHeader {
  readonly kid: string;
  readonly alg: IssuerAlgorithm;
}

/** Identity providers' tokens with many claims stay well below. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;

/**
 * Reads the header of a signed token in compact form, before anything is known to be true.
 *
 * @throws issuer_token_rejected `bad_signature` the text is no such token, or names a critical extension: we know none.
 * `header_invalid` no text as `kid` or `alg`. `alg_mismatch` an algorithm that is not accepted.
 * Source: docs/reference/application-api.md#identity-tokens, RFC 7515 section 3.1 and 4.1.11.
 */
export function readTokenHeader(token: string): TokenHeader {
  if (!isCompact(token)) throw issuerTokenRejected('bad_signature');
  const header = decodedHeader(token);
  const { kid, alg } = header;
  if (!isName(kid) || !isName(alg)) throw issuerTokenRejected('header_invalid');
  if (!isAccepted(alg)) throw issuerTokenRejected('alg_mismatch');
  if (Object.hasOwn(header, 'crit')) throw issuerTokenRejected('bad_signature');
  return { kid, alg };
}

/**
 * Reads the signed part of a token.
 *
 * @throws issuer_token_rejected `bad_signature` it is no JSON object in UTF-8.
 */
export function parsePayload(bytes: Uint8Array): Claims {
  const payload = attempt(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  if (!isClaims(payload)) throw issuerTokenRejected('bad_signature');
  return payload;
}

/** Three parts, each spelled in the one way base64url has for its bytes. */
function isCompact(token: string): boolean {
  if (token.length > MAX_TOKEN_CHARACTERS) return false;
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function decodedHeader(token: string): Claims {
  const header: unknown = attempt(() => decodeProtectedHeader(token));
  if (!isClaims(header)) throw issuerTokenRejected('bad_signature');
  return header;
}

function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw issuerTokenRejected('bad_signature', error);
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isAccepted(alg: string): alg is IssuerAlgorithm {
  return Object.hasOwn(ISSUER_ALGORITHMS, alg);
}
