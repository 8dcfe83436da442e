import { decodeProtectedHeader } from 'jose';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { isJsonObject } from '../../common/json-object.js';
import type { Claims } from './claim-path.rules.js';

/**
 * Accepted signature algorithms and their key types; asymmetric only.
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

/** The `alg` of an acceptable token. */
export type IssuerAlgorithm = keyof typeof ISSUER_ALGORITHMS;

/** The relevant members of a token header; all others are ignored. */
interface TokenHeader {
  readonly kid: string;
  readonly alg: IssuerAlgorithm;
}

/** Larger than tokens of identity providers with many claims. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;

/**
 * Reads the header of a signed token in compact form, before its signature is verified.
 *
 * @throws issuer_token_rejected `bad_signature` the text is no such token, or names a critical extension; none is
 * supported. `header_invalid` `kid` or `alg` is not text. `alg_mismatch` the algorithm is not accepted.
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
 * Reads the payload of a token.
 *
 * @throws issuer_token_rejected `bad_signature` it is not a JSON object in UTF-8.
 */
export function parsePayload(bytes: Uint8Array): Claims {
  const payload = attempt(() => JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  if (!isJsonObject(payload)) throw issuerTokenRejected('bad_signature');
  return payload;
}

/** Three parts, each in canonical base64url. */
function isCompact(token: string): boolean {
  if (token.length > MAX_TOKEN_CHARACTERS) return false;
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

function decodedHeader(token: string): Claims {
  const header: unknown = attempt(() => decodeProtectedHeader(token));
  if (!isJsonObject(header)) throw issuerTokenRejected('bad_signature');
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

/** The refusal `403 issuer_claims_missing`: the token is valid, but a required claim is missing. */
export class IssuerClaimsMissing extends GatewayError {
  /** @param userId the user of the verified token, for the authentication event. */
  constructor(readonly userId: string) {
    super('issuer_claims_missing', { reason: 'claims_missing' });
    this.name = 'IssuerClaimsMissing';
  }
}

/**
 * Why an issuer token was refused, for logs and authentication events only.
 *
 * Source: docs/reference/application-api.md#identity-tokens.
 */
export type IssuerRejection =
  | 'header_invalid'
  | 'alg_mismatch'
  | 'unknown_kid'
  | 'bad_signature'
  | 'issuer_mismatch'
  | 'audience_mismatch'
  | 'timestamps_invalid'
  | 'expired'
  | 'lifetime_exceeded'
  | 'user_id_missing';

/** The refusal `403 issuer_token_rejected`; the response does not hold the reason. */
export function issuerTokenRejected(reason: IssuerRejection, cause?: unknown): GatewayError {
  return new GatewayError('issuer_token_rejected', { reason, cause });
}
