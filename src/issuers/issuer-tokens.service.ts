import { Injectable } from '@nestjs/common';
import { type CryptoKey, compactVerify, errors } from 'jose';
import type { IssuerConfig } from '../app-directory/config/app-config.js';
import { Clock } from '../common/clock.js';
import { judgeClaims } from './issuer-claims.rules.js';
import type { IssuerKey } from './issuer-key.js';
import { IssuerKeySets } from './issuer-key-sets.js';
import { issuerTokenRejected } from './issuer-rejection.js';
import { type IssuerAlgorithm, parsePayload, readTokenHeader } from './issuer-token.rules.js';

/** A name stands for one key; an issuer that gives it to several costs no more than this many tries. */
const MAX_KEYS_TRIED = 4;

/** Verifies the tokens of applications' identity providers. */
@Injectable()
export class IssuerTokens {
  constructor(
    private readonly keySets: IssuerKeySets,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the id of the user the token names.
   * @throws issuer_token_rejected the token is not good; the reason says which rule it breaks.
   * @throws IssuerClaimsMissing the token is good but a required claim is not there yet.
   * @throws issuer_verification_unavailable the issuer's keys cannot be had now; says nothing about the token.
   * Source: docs/reference/application-api.md#identity-tokens.
   */
  async verify(token: string, issuer: IssuerConfig): Promise<string> {
    const { kid, alg } = readTokenHeader(token);
    const keys = await this.keySets.find(issuer.jwks_url, kid);
    const payload = await signedPayload(token, alg, keys);
    return judgeClaims(parsePayload(payload), issuer, this.clock.nowMs());
  }
}

async function signedPayload(token: string, alg: IssuerAlgorithm, keys: readonly IssuerKey[]): Promise<Uint8Array> {
  if (keys.length === 0) throw issuerTokenRejected('unknown_kid');
  const candidates = keys.filter((key) => key.allows(alg));
  if (candidates.length === 0) throw issuerTokenRejected('alg_mismatch');
  for (const candidate of candidates.slice(0, MAX_KEYS_TRIED)) {
    const key = await candidate.verifying(alg);
    const payload = key && (await verifiedPayload(token, alg, key));
    if (payload !== undefined) return payload;
  }
  throw issuerTokenRejected('bad_signature');
}

/** Undefined when the token was not signed with this key. What is no verdict on the token is not taken for one. */
async function verifiedPayload(token: string, alg: IssuerAlgorithm, key: CryptoKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, key, { algorithms: [alg] })).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
