import { createHmac } from 'node:crypto';
import { CompactSign, type CryptoKey, exportSPKI, importJWK } from 'jose';
import { type IssuerKey, newIssuerKey } from './issuer-keys.js';

/** The members of a token's payload; those given as undefined are left out. */
export type Claims = Readonly<Record<string, unknown>>;

export interface TokenOptions {
  /** ES256 by default. */
  readonly alg?: string;
  /** Members of the header beside `alg` and `kid`, or in their place; those given as undefined are left out. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** Seconds from `iat` to `exp`, in place of the claim. */
  readonly expiresIn?: number;
  /** Signed as it is, in place of the claims. */
  readonly payload?: string | Uint8Array;
}

/** Signs any given payload. */
export function signToken(key: IssuerKey, claims: Claims, options: TokenOptions): Promise<string> {
  const { header, expiresIn, payload } = options;
  const { alg, kid } = key.jwk;
  const dated = expiresIn === undefined ? claims : { ...claims, exp: Number(claims.iat) + expiresIn };
  const bytes = payload ?? JSON.stringify(dated);
  return new CompactSign(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    .setProtectedHeader(JSON.parse(JSON.stringify({ alg, kid, ...header })))
    .sign(key.privateKey, { crit: { 'urn:example:critical': true } });
}

/** Tokens that no verifier may accept. */
export function forgeries(keyOf: (alg: string) => IssuerKey, claimsOf: (claims?: Claims) => Claims) {
  return {
    /** `alg: none`, without a signature; `alg` may be spelled otherwise. */
    unsigned: (claims?: Claims, alg = 'none') => {
      const header = { alg, kid: keyOf('RS256').jwk.kid };
      return `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(claimsOf(claims)))}.`;
    },
    /** HS256, with the text of the public RSA key as the secret. */
    async hs256WithPublicKey(claims?: Claims) {
      const { jwk } = keyOf('RS256');
      const secret = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey);
      const header = encoded(JSON.stringify({ alg: 'HS256', kid: jwk.kid }));
      const signed = `${header}.${encoded(JSON.stringify(claimsOf(claims)))}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    },
    /** Signed with a key of the forger's own under the name of the right one. */
    async wrongKey(claims?: Claims, alg = 'ES256') {
      const key = await newIssuerKey(alg, keyOf(alg).jwk.kid);
      return signToken(key, claimsOf(claims), {});
    },
    /** Signed with a key of the forger's own that the header itself carries. */
    async keyInHeader(claims?: Claims) {
      const key = await newIssuerKey('ES256', keyOf('ES256').jwk.kid);
      return signToken(key, claimsOf(claims), { header: { jwk: key.jwk } });
    },
  };
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}
