import { type CryptoKey, importJWK } from 'jose';
import type { IssuerAlgorithm } from './issuer-token.rules.js';
import { allowsAlgorithm, isSoundKey, type PublishedKey, verifyingJwk } from './key-set.rules.js';

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
