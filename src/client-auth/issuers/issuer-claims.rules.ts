import type { AppGroup } from '../../app-directory/app-limits.rules.js';
import type { IssuerConfig } from '../../app-directory/config/issuer-config.js';
import { type CallGroups, isGroupValue } from '../../app-directory/group-value.rules.js';
import { isUserId } from '../../app-directory/user-id.rules.js';
import { latestExpiryMs } from '../../common/credential-lifetime.rules.js';
import { type Claims, claimAt, hasRequiredClaims } from './claim-path.rules.js';
import { IssuerClaimsMissing, issuerTokenRejected } from './issuer-token.rules.js';

/**
 * Validates the payload of a token with a verified signature, in the documented order, without clock tolerance.
 *
 * @param nowMs milliseconds since the Unix epoch.
 * @returns the user id.
 * @throws issuer_token_rejected with the reason of the first broken rule.
 * @throws IssuerClaimsMissing only a required claim is missing.
 * Source: docs/reference/application-api.md#identity-tokens, docs/reference/security.md#token-verification.
 */
export function validateClaims(claims: Claims, issuer: IssuerConfig, nowMs: number): string {
  if (!isInForce(claimAt(claims, 'nbf'), nowMs)) throw issuerTokenRejected('bad_signature');
  if (!isOneOf(claimAt(claims, 'iss'), issuer.issuer)) throw issuerTokenRejected('issuer_mismatch');
  if (!isForAudience(claimAt(claims, 'aud'), issuer.audience)) throw issuerTokenRejected('audience_mismatch');
  requireLifetime(claimAt(claims, 'iat'), claimAt(claims, 'exp'), issuer.max_token_lifetime_seconds, nowMs);
  const userId = claimAt(claims, issuer.user_id_claim);
  if (!isUserId(userId)) throw issuerTokenRejected('user_id_missing');
  if (!hasRequiredClaims(claims, issuer.required_claims)) throw new IssuerClaimsMissing(userId);
  return userId;
}

/**
 * The groups of a user: each claim is text of 1 to 128 characters.
 *
 * @throws IssuerClaimsMissing the token lacks the claim of a group.
 * Source: docs/reference/accounting.md#groups-and-runs.
 */
export function requireGroups(claims: Claims, groups: readonly AppGroup[], userId: string): CallGroups {
  const named: Record<string, string> = {};
  for (const { name, claim } of groups) {
    if (claim === undefined) continue;
    const value = claimAt(claims, claim);
    if (!isGroupValue(value)) throw new IssuerClaimsMissing(userId);
    named[name] = value;
  }
  return named;
}

/** @param notBefore seconds since the Unix epoch; always in force when undefined. */
function isInForce(notBefore: unknown, nowMs: number): boolean {
  return notBefore === undefined || (typeof notBefore === 'number' && notBefore * 1_000 <= nowMs);
}

function isOneOf(value: unknown, accepted: readonly string[]): boolean {
  return typeof value === 'string' && accepted.includes(value);
}

/** A list with an element that is not text names no audience. */
function isForAudience(audience: unknown, accepted: readonly string[]): boolean {
  if (!Array.isArray(audience)) return isOneOf(audience, accepted);
  return audience.every((one) => typeof one === 'string') && audience.some((one) => isOneOf(one, accepted));
}

function requireLifetime(issuedAt: unknown, expiry: unknown, maxSeconds: number, nowMs: number): void {
  if (!isInstant(issuedAt) || !isInstant(expiry)) throw issuerTokenRejected('timestamps_invalid');
  if (expiry * 1_000 <= nowMs) throw issuerTokenRejected('expired');
  const isTooLong = expiry - issuedAt > maxSeconds || expiry * 1_000 > latestExpiryMs(maxSeconds * 1_000, nowMs);
  if (expiry <= issuedAt || isTooLong) throw issuerTokenRejected('lifetime_exceeded');
}

/** JSON numbers beyond the range of a double (`1e999`) parse as infinite. */
function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
