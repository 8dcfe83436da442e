import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

/** A public key as the key set publishes it. */
type PublishedJwk = JWK & { readonly kid: string; readonly alg: string };

/** A key set as it is served. */
export interface KeySetDocument {
  readonly keys: readonly PublishedJwk[];
}

/** A key pair of the simulated issuer. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly jwk: PublishedJwk;
}

/** One generation of keys. */
export interface IssuerKeys {
  /** By algorithm. */
  readonly signing: ReadonlyMap<string, IssuerKey>;
  readonly published: readonly PublishedJwk[];
}

/** Every algorithm the gateway accepts of an issuer. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA'];

let generations = 0;

/** A new key for every algorithm, under names never used before. */
export async function newIssuerKeys(): Promise<IssuerKeys> {
  const generation = ++generations;
  const keys = await Promise.all(ALGORITHMS.map((alg) => newIssuerKey(alg, `${alg}-${generation}`)));
  return { signing: new Map(keys.map((key) => [key.jwk.alg, key])), published: keys.map(({ jwk }) => jwk) };
}

/** A key pair for one algorithm. */
export async function newIssuerKey(alg: string, kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}
