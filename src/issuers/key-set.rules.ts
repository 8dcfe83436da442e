import type { CryptoKey, JWK } from 'jose';
import { type Claims, isClaims } from './claim-path.rules.js';
import { ISSUER_ALGORITHMS, type IssuerAlgorithm } from './issuer-token.rules.js';

/**
 * One published key, not yet known to be of any use. Of what was published it holds nothing else: key sets are kept, and
 * an issuer could fill them with members that are small to send and large to keep.
 */
export interface PublishedKey {
  readonly kid: string;
  /** Undefined when the key names no algorithm, null when what it names cannot be one. */
  readonly alg: string | null | undefined;
  /** Meant for signatures, and its private half is not public. */
  readonly mayVerify: boolean;
  /** The public members that are text. */
  readonly members: Readonly<Record<string, string>>;
}

const PUBLIC_MEMBERS = ['kty', 'crv', 'n', 'e', 'x', 'y'];
/** A key that publishes one of these proves nothing any more. */
const SECRET_MEMBERS = ['d', 'k', 'priv'];

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
 * Source: docs/reference/application-api.md#identity-tokens, RFC 7517 section 5.
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
export function verifyingJwk({ mayVerify, members }: PublishedKey, alg: IssuerAlgorithm): JWK | undefined {
  const expected = ISSUER_ALGORITHMS[alg];
  const isOfKind = members.kty === expected.kty && (expected.crv === undefined || members.crv === expected.crv);
  return isOfKind && mayVerify ? { ...members, alg } : undefined;
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
  const { kid, alg } = entry;
  const mayVerify = isMeantToVerify(entry) && SECRET_MEMBERS.every((name) => entry[name] === undefined);
  return [{ kid, alg: isNameOrAbsent(alg) ? alg : null, mayVerify, members: textMembers(entry) }];
}

function isNameOrAbsent(alg: unknown): alg is string | undefined {
  return alg === undefined || typeof alg === 'string';
}

function textMembers(entry: Claims): Record<string, string> {
  const members: Record<string, string> = {};
  for (const name of PUBLIC_MEMBERS) {
    const member = entry[name];
    if (typeof member === 'string') members[name] = member;
  }
  return members;
}

function isMeantToVerify({ use, key_ops: operations }: Claims): boolean {
  const isForUse = use === undefined || use === 'sig';
  return isForUse && (operations === undefined || (Array.isArray(operations) && operations.includes('verify')));
}
