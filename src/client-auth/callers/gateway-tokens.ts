import { createSecretKey, hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type CryptoKey, errors, jwtVerify, SignJWT } from 'jose';
import type { CallGroups } from '../../app-directory/group-value.rules.js';
import { Clock } from '../../common/clock.js';
import { Ids } from '../../common/ids.js';
import type { Secret } from '../../common/log/secret.js';
import { lruCache } from '../../common/lru-cache.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import { TokenSecrets } from '../../platform/secrets/signing-secrets.js';
import type { AuthMethod } from '../../usage/recording/usage-event.js';
import {
  GATEWAY_TOKEN_ALGORITHM,
  type GatewayTokenClaims,
  isGatewayToken,
  lifetimeSecondsOf,
  REQUIRED_CLAIMS,
  readClaims,
  type TokenRefusal,
  type UnprovenMode,
  validateTime,
} from './gateway-token.rules.js';

const TYPE = 'JWT';
/** Maximum number of cached verifications; a user's device holds one token at a time. */
const MAX_VERIFIED = 50_000;

/** The subject of a new token. */
export interface TokenHolder {
  readonly appId: string;
  readonly userId: string;
  readonly authMethod: AuthMethod;
  /** The exchanged application key; absent for devices. */
  readonly apiKeyId?: string;
  /** The mode of a failed proof, with `authMethod: unproven`. */
  readonly unproven?: UnprovenMode | undefined;
  /** Only for the framework's client, whose calls name no version; null: it is not known. */
  readonly attestedVersion?: string | null | undefined;
  /** Absent: none. */
  readonly groups?: CallGroups | undefined;
}

/**
 * Issues and verifies gateway tokens: signed and verified by this service, valid for at most an hour, opaque to
 * clients.
 *
 * A verification is cached by the hash of the whole token, so that a repeated token costs one hash and no promise. Its
 * times are checked every time. Failures are not cached.
 *
 * Source: docs/reference/application-api.md#gateway-tokens, docs/reference/security.md#token-verification.
 */
@Injectable()
export class GatewayTokens {
  readonly #signingKey: CryptoKey;
  readonly #verifyingKeys: readonly CryptoKey[];
  readonly #verified = lruCache<GatewayTokenClaims>(MAX_VERIFIED);

  constructor(
    secrets: TokenSecrets,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {
    this.#signingKey = toKey(secrets.current);
    this.#verifyingKeys =
      secrets.previous === undefined ? [this.#signingKey] : [this.#signingKey, toKey(secrets.previous)];
  }

  /** A new token for an authenticated user. */
  issue({ appId, userId, authMethod, apiKeyId, groups, unproven, attestedVersion }: TokenHolder): Promise<string> {
    const issuedAt = Math.floor(this.clock.nowMs() / 1000);
    const ofKey = apiKeyId === undefined ? {} : { api_key_id: apiKeyId };
    const ofGroups = groups === undefined || Object.keys(groups).length === 0 ? {} : { groups };
    const ofProof = unproven === undefined ? {} : { proof: 'none', mode: unproven };
    const ofVersion = attestedVersion === undefined ? {} : { app_version: attestedVersion };
    return new SignJWT({ app: appId, auth_method: authMethod, ...ofKey, ...ofGroups, ...ofProof, ...ofVersion })
      .setProtectedHeader({ alg: GATEWAY_TOKEN_ALGORITHM, typ: TYPE })
      .setSubject(userId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifetimeSecondsOf(authMethod))
      .setJti(this.ids.uuid())
      .sign(this.#signingKey);
  }

  /** @returns the claims of a currently valid token; `undefined`, directly or in the promise, for any other text. */
  verify(token: string): MaybePromise<GatewayTokenClaims | undefined> {
    return whenResolved(this.validate(token), (checked) => (typeof checked === 'string' ? undefined : checked));
  }

  /** As {@link verify}, with the reason why a token is invalid; synchronous on a cache hit. */
  validate(token: string): MaybePromise<GatewayTokenClaims | TokenRefusal> {
    const tokenHash = hash('sha256', token, 'hex');
    const known = this.#verified.get(tokenHash);
    if (known === undefined) return isGatewayToken(token) ? this.#verifyUnknown(token, tokenHash) : 'token_invalid';
    const checked = validateTime(known, this.clock.nowMs());
    if (checked === 'token_expired') this.#verified.delete(tokenHash);
    return checked;
  }

  async #verifyUnknown(token: string, tokenHash: string): Promise<GatewayTokenClaims | TokenRefusal> {
    for (const key of this.#verifyingKeys) {
      const checked = await this.#verifyWith(key, token);
      if (checked === 'token_invalid') continue;
      if (typeof checked !== 'string') this.#verified.set(tokenHash, checked);
      return checked;
    }
    return 'token_invalid';
  }

  async #verifyWith(key: CryptoKey, token: string): Promise<GatewayTokenClaims | TokenRefusal> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, key, {
        algorithms: [GATEWAY_TOKEN_ALGORITHM],
        requiredClaims: REQUIRED_CLAIMS,
        currentDate: this.clock.now(),
      });
      const claims = protectedHeader.typ === TYPE ? readClaims(payload) : undefined;
      return claims === undefined ? 'token_invalid' : validateTime(claims, this.clock.nowMs());
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'token_expired';
      if (error instanceof errors.JOSEError) return 'token_invalid';
      throw error;
    }
  }
}

/** The key is the UTF-8 text of the secret. */
function toKey(secret: Secret): CryptoKey {
  const key = createSecretKey(secret.reveal(), 'utf8');
  return key.toCryptoKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}
