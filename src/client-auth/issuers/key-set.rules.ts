import { type CryptoKey, importJWK, type JWK } from 'jose';
import { isJsonObject } from '../../common/json-object.js';
import type { Claims } from './claim-path.rules.js';
import { ISSUER_ALGORITHMS, type IssuerAlgorithm } from './issuer-token.rules.js';

/**
 * One published key, not yet validated. It holds only the members below, because key sets are cached, and an issuer
 * could add members that are small to send and large to store.
 */
export interface PublishedKey {
  readonly kid: string;
  /** Undefined when the key names no algorithm, null when the named value cannot be one. */
  readonly alg: string | null | undefined;
  /** Intended for signatures, and without private members. */
  readonly mayVerify: boolean;
  /** The public members that are text. */
  readonly members: Readonly<Record<string, string>>;
}

const PUBLIC_MEMBERS = ['kty', 'crv', 'n', 'e', 'x', 'y'];
/** A key that publishes one of these is compromised. */
const SECRET_MEMBERS = ['d', 'k', 'priv'];

const MAX_KEYS = 200;
const MIN_RSA_BITS = 2_048;
/** Larger keys make a verification too expensive. */
const MAX_RSA_BITS = 8_192;
const MAX_RSA_EXPONENT_BYTES = 8;

/**
 * The keys of a key set that have a `kid`. Other entries are skipped, so that one invalid entry does not invalidate the
 * set; at most 200 entries are read.
 *
 * @returns undefined when it is not JSON with a list of keys: `jwks_invalid`.
 * Source: docs/reference/application-api.md#identity-tokens, RFC 7517 section 5.
 */
export function parseKeySet(body: Buffer): readonly PublishedKey[] | undefined {
  const document = parsedJson(body);
  const keys = isJsonObject(document) ? document.keys : undefined;
  return Array.isArray(keys) ? keys.slice(0, MAX_KEYS).flatMap(publishedKey) : undefined;
}

/** Whether a published key names this algorithm or none; otherwise `alg_mismatch`. */
export function allowsAlgorithm(key: PublishedKey, alg: IssuerAlgorithm): boolean {
  return key.alg === undefined || key.alg === alg;
}

/**
 * The JWK of a published key for this algorithm.
 *
 * @returns undefined when its use or type differs, or it publishes private members.
 */
export function verifyingJwk({ mayVerify, members }: PublishedKey, alg: IssuerAlgorithm): JWK | undefined {
  const expected = ISSUER_ALGORITHMS[alg];
  const isOfKind = members.kty === expected.kty && (expected.crv === undefined || members.crv === expected.crv);
  return isOfKind && mayVerify ? { ...members, alg } : undefined;
}

/** False for an RSA key that is too weak or too expensive; true for every other key. */
function isSoundKey({ algorithm }: CryptoKey): boolean {
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
  if (!isJsonObject(entry) || typeof entry.kid !== 'string' || entry.kid === '') return [];
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

/** A key of an issuer. An imported key is cached as long as its key set. */
export class IssuerKey {
  readonly #imported = new Map<IssuerAlgorithm, Promise<CryptoKey | undefined>>();

  constructor(private readonly published: PublishedKey) {}

  get kid(): string {
    return this.published.kid;
  }

  allows(alg: IssuerAlgorithm): boolean {
    return allowsAlgorithm(this.published, alg);
  }

  /** The imported key for this algorithm; undefined when it is unusable. */
  verifying(alg: IssuerAlgorithm): Promise<CryptoKey | undefined> {
    const imported = this.#imported.get(alg) ?? this.import(alg);
    this.#imported.set(alg, imported);
    return imported;
  }

  private async import(alg: IssuerAlgorithm): Promise<CryptoKey | undefined> {
    const jwk = verifyingJwk(this.published, alg);
    if (jwk === undefined) return undefined;
    try {
      const key = await importJWK(jwk, alg);
      return key instanceof Uint8Array || !isSoundKey(key) ? undefined : key;
    } catch {
      // The only input is the published key, so the failure is the issuer's.
      return undefined;
    }
  }
}
