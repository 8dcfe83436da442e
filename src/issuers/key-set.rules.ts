import type { CryptoKey, JWK } from 'jose';
import { type Claims, isClaims } from './claim-path.rules.js';
import { ISSUER_ALGORITHMS, type IssuerAlgorithm } from './issuer-token.rules.js';

/** One published key, not yet known to be of any use. */
export interface PublishedKey {
  readonly kid: string;
  /** As published; undefined when the key names no algorithm. */
  readonly alg: unknown;
  readonly jwk: Claims;
}

const MAX_KEYS = 200;
const MIN_RSA_BITS = 2_048;
/** Beyond these an issuer's key would cost us more than the check is worth. */
const MAX_RSA_BITS = 8_192;
const MAX_RSA_EXPONENT_BYTES = 8;

/**
 * The keys of a key set that a token can name. Members that are no key with a `kid` are left out, so that one odd entry
 * does not spoil the others; at most 200 are read.
 *
 * @returns undefined when it is not JSON with a list of keys: `jwks_invalid`.
 * Source: contract-app 3.4; RFC 7517 section 5.
 */
export function parseKeySet(body: Buffer): readonly PublishedKey[] | undefined {
  const document = parsedJson(body);
  const keys = isClaims(document) ? document.keys : undefined;
  return Array.isArray(keys) ? keys.slice(0, MAX_KEYS).flatMap(publishedKey) : undefined;
}

/** Whether a published key leaves this algorithm open or names it: anything else is `alg_mismatch`. */
export function allowsAlgorithm(key: PublishedKey, alg: IssuerAlgorithm): boolean {
  return key.alg === undefined || key.alg === alg;
}

/**
 * The members of a published key that verify this algorithm.
 *
 * @returns undefined when it is meant for something else, is of another kind, or is no public key.
 */
export function verifyingJwk({ jwk }: PublishedKey, alg: IssuerAlgorithm): JWK | undefined {
  const { kty, crv, n, e, x, y } = jwk;
  const expected = ISSUER_ALGORITHMS[alg];
  const isOfKind = kty === expected.kty && (expected.crv === undefined || crv === expected.crv);
  if (!isOfKind || !isMeantToVerify(jwk) || isSecret(jwk)) return undefined;
  const members = Object.entries({ kty, crv, n, e, x, y }).filter(([, member]) => typeof member === 'string');
  return { ...Object.fromEntries(members), alg };
}

/** False of an RSA key that proves too little or costs too much; true of every other key. */
export function isSoundKey({ algorithm }: CryptoKey): boolean {
  if (!('modulusLength' in algorithm) || !('publicExponent' in algorithm)) return true;
  const { modulusLength: bits, publicExponent: exponent } = algorithm;
  const isSized = typeof bits === 'number' && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
  return isSized && ArrayBuffer.isView(exponent) && exponent.byteLength <= MAX_RSA_EXPONENT_BYTES;
}

function parsedJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function publishedKey(entry: unknown): PublishedKey[] {
  if (!isClaims(entry) || typeof entry.kid !== 'string' || entry.kid === '') return [];
  return [{ kid: entry.kid, alg: entry.alg, jwk: entry }];
}

function isMeantToVerify({ use, key_ops: operations }: Claims): boolean {
  const isForUse = use === undefined || use === 'sig';
  return isForUse && (operations === undefined || (Array.isArray(operations) && operations.includes('verify')));
}

/** A key that publishes its private half proves nothing any more. */
function isSecret(jwk: Claims): boolean {
  return ['d', 'k', 'priv'].some((member) => jwk[member] !== undefined);
}
