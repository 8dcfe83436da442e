import { Injectable } from '@nestjs/common';
import { type CryptoKey, compactVerify, errors } from 'jose';
import type { AppGroup } from '../../app-directory/app-limits.rules.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import type { CallGroups } from '../../app-directory/group-value.rules.js';
import { Clock } from '../../common/clock.js';
import { requireGroups, validateClaims } from './issuer-claims.rules.js';
import { IssuerKeySets } from './issuer-key-sets.js';
import { type IssuerAlgorithm, issuerTokenRejected, parsePayload, readTokenHeader } from './issuer-token.rules.js';
import type { IssuerKey } from './key-set.rules.js';

/** Bounds the signature checks when an issuer publishes several keys with the same `kid`. */
const MAX_KEYS_TRIED = 4;

/** What a verified token says about its user. */
export interface IssuerIdentity {
  readonly userId: string;
  readonly groups: CallGroups;
}

/** Verifies tokens of the applications' identity providers. */
@Injectable()
export class IssuerTokens {
  constructor(
    private readonly keySets: IssuerKeySets,
    private readonly clock: Clock,
  ) {}

  /**
   * @param groups of the application, whose claims the token must have.
   * @returns the user id of the token, and the values of those claims.
   * @throws issuer_token_rejected the token is invalid; the reason names the broken rule.
   * @throws IssuerClaimsMissing the token is valid, but a required claim is missing.
   * @throws issuer_verification_unavailable the issuer's keys are unavailable; the token was not verified.
   * Source: docs/reference/application-api.md#identity-tokens.
   */
  async verify(token: string, issuer: IssuerConfig, groups: readonly AppGroup[] = []): Promise<IssuerIdentity> {
    const { kid, alg } = readTokenHeader(token);
    const keys = await this.keySets.find(issuer.jwks_url, kid);
    const payload = await signedPayload(token, alg, keys);
    const claims = parsePayload(payload);
    const userId = validateClaims(claims, issuer, this.clock.nowMs());
    return { userId, groups: requireGroups(claims, groups, userId) };
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

/** Undefined when this key did not sign the token. An error that does not concern the token propagates. */
async function verifiedPayload(token: string, alg: IssuerAlgorithm, key: CryptoKey): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(token, key, { algorithms: [alg] })).payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
