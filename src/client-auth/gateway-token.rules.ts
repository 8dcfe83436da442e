import type { ReadableApp } from '../app-directory/app-snapshot.js';
import { isUserId } from '../app-directory/user-id.rules.js';
import { isAppKey } from '../app-keys/app-key.rules.js';
import { latestExpiryMs } from '../common/credential-lifetime.rules.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { isStorableText } from '../common/fields/config-reader.js';
import { AUTH_METHODS, type AuthMethod } from '../usage/usage-event.js';

/** The only algorithm that signs and verifies gateway tokens. */
export const GATEWAY_TOKEN_ALGORITHM = 'HS256';

/** From issue to expiry. Source: docs/reference/application-api.md#gateway-tokens. */
export const GATEWAY_TOKEN_LIFETIME_SECONDS = 60 * 60;

/** Claims every gateway token has; `api_key_id` is there only when it was exchanged for an application key. */
export const REQUIRED_CLAIMS = ['sub', 'app', 'auth_method', 'iat', 'exp', 'jti'];

/** Three parts in base64url; the last one is 256 bits in their one canonical spelling, without spare bits or padding. */
const GATEWAY_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** What a verified token says. */
export interface GatewayTokenClaims {
  readonly appId: string;
  readonly userId: string;
  readonly authMethod: AuthMethod;
  /** The application key it was exchanged for, or null. */
  readonly apiKeyId: string | null;
  /** Milliseconds since the Unix epoch, as the next. */
  readonly issuedAtMs: number;
  /** From this instant on the token is worth nothing. */
  readonly expiresAtMs: number;
}

/** Why a token is worth nothing: only one that we signed can be expired, or from a clock that was ahead. */
export type TokenRefusal = 'token_invalid' | 'token_expired' | 'token_of_wrong_clock';

/** True for text that can be a gateway token: then its signature is worth computing. */
export function isGatewayToken(text: string): boolean {
  return GATEWAY_TOKEN.test(text);
}

/**
 * The claims of a token whose signature holds, each of exactly its type, and as Postgres can be asked for it.
 *
 * @returns `undefined` when a claim is missing or another thing.
 * Source: docs/reference/application-api.md#gateway-tokens, docs/reference/security.md#token-verification.
 */
export function readClaims(payload: Readonly<Record<string, unknown>>): GatewayTokenClaims | undefined {
  const { sub, app, auth_method, api_key_id, iat, exp, jti } = payload;
  const authMethod = AUTH_METHODS.find((method) => method === auth_method);
  if (!isUserId(sub) || !isText(app) || !isText(jti) || authMethod === undefined) return undefined;
  if (!isWholeNumber(iat) || !isWholeNumber(exp) || exp <= iat) return undefined;
  if (api_key_id !== undefined && !isText(api_key_id)) return undefined;
  return Object.freeze({
    appId: app,
    userId: sub,
    authMethod,
    apiKeyId: api_key_id ?? null,
    issuedAtMs: iat * 1000,
    expiresAtMs: exp * 1000,
  });
}

/**
 * The claims while they are in force, else why they are not.
 *
 * A token is believed for its lifetime and a minute, whoever signed it and whatever it says: one from a clock that was
 * ahead would otherwise be good until long after that clock was mended (ADR 0038).
 */
export function judgeTime(claims: GatewayTokenClaims, nowMs: number): GatewayTokenClaims | TokenRefusal {
  if (nowMs >= claims.expiresAtMs) return 'token_expired';
  const isBelieved =
    claims.issuedAtMs <= latestExpiryMs(0, nowMs) &&
    claims.expiresAtMs <= latestExpiryMs(GATEWAY_TOKEN_LIFETIME_SECONDS * 1000, nowMs);
  return isBelieved ? claims : 'token_of_wrong_clock';
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isStorableText(value);
}

/** Callers of an application whose users are an issuer's or installations prove themselves by gateway token alone. */
export function takesGatewayTokens(app: ReadableApp): boolean {
  return app.userSource === 'issuer' || app.userSource === 'app_install';
}

/**
 * Refuses an application key where only gateway tokens are taken, before anything is computed for it.
 *
 * @throws auth_required
 * Source: docs/reference/application-api.md#credential-headers.
 */
export function refuseKeyForToken(credential: string): void {
  if (!isAppKey(credential)) return;
  throw refused('gateway_token_required', 'This application takes gateway tokens only; exchange the API key for one.');
}

/**
 * The claims of a token that is good for this application.
 *
 * @param judged the claims, or why there are none.
 * @throws auth_required the token is not valid, has expired, or is for another application or way to authenticate.
 * Source: docs/reference/application-api.md#gateway-tokens.
 */
export function requireClaimsFor(app: ReadableApp, judged: GatewayTokenClaims | TokenRefusal): GatewayTokenClaims {
  if (judged === 'token_invalid') throw refused(judged, 'The gateway token is not valid; exchange a new one.');
  if (judged === 'token_expired') throw refused(judged, 'The gateway token has expired; exchange a new one.');
  if (judged === 'token_of_wrong_clock') {
    throw refused(judged, 'The gateway token is from a clock that was wrong; exchange a new one.');
  }
  if (judged.appId !== app.id) {
    throw refused('token_of_other_app', 'The gateway token is for another application; exchange one for this one.');
  }
  if (judged.authMethod !== authMethodOf(app)) {
    throw refused('token_of_other_method', 'The application authenticates otherwise by now; exchange a new token.');
  }
  return judged;
}

function authMethodOf(app: ReadableApp): AuthMethod {
  return app.config.authentication.type === 'device_app_attest' ? 'attest' : 'api_key';
}

function refused(reason: string, message: string): GatewayError {
  return new GatewayError('auth_required', { message, reason });
}
