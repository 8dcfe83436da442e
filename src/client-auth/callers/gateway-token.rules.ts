import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { PROOF_NAMES, type ProofMode, type ProofName } from '../../app-directory/config/device-proofs-config.js';
import { type CallGroups, isCallGroups } from '../../app-directory/group-value.rules.js';
import { isUserId } from '../../app-directory/user-id.rules.js';
import { isAppKey } from '../../app-keys/app-key.rules.js';
import { latestExpiryMs } from '../../common/credential-lifetime.rules.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';
import { isStorableText } from '../../common/fields/config-values.js';
import { AUTH_METHODS, type AuthMethod } from '../../usage/recording/usage-event.js';

/** The only algorithm that signs and verifies gateway tokens. */
export const GATEWAY_TOKEN_ALGORITHM = 'HS256';

/** Lifetime of a gateway token. Source: docs/reference/application-api.md#gateway-tokens. */
export const GATEWAY_TOKEN_LIFETIME_SECONDS = 60 * 60;

/**
 * Lifetime of a token for an attested Android key: the revocation list is read every 20 minutes, and a listing ends
 * such tokens within the hour. Source: docs/reference/security.md#revocation-of-android-keys.
 */
const KEY_ATTESTATION_TOKEN_LIFETIME_SECONDS = 30 * 60;

/** Claims of every gateway token; a token that was exchanged for an application key also has `api_key_id`. */
export const REQUIRED_CLAIMS = ['sub', 'app', 'auth_method', 'iat', 'exp', 'jti'];

/** Three parts in base64url; the signature is 256 bits in canonical spelling, without padding. */
const GATEWAY_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** The modes in which a failed proof gets a token. */
export type UnprovenMode = Exclude<ProofMode, 'enforce'>;

/** The claims of a verified token. */
export interface GatewayTokenClaims {
  readonly appId: string;
  readonly userId: string;
  readonly authMethod: AuthMethod;
  /** The exchanged application key, or null. */
  readonly apiKeyId: string | null;
  /** The user's groups at the exchange, by name. */
  readonly groups: CallGroups;
  /** The mode of the failed proof; null for a device, or a backend, that proved itself. */
  readonly unproven: UnprovenMode | null;
  /** The version of the app that calls, null if it is not known; undefined: each call names it. */
  readonly attestedVersion: string | null | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly issuedAtMs: number;
  /** Milliseconds since the Unix epoch; the token is expired from this instant on. */
  readonly expiresAtMs: number;
}

/** Why a token is invalid. Only a token with a valid signature can be expired, or from a clock that was ahead. */
export type TokenRefusal = 'token_invalid' | 'token_expired' | 'token_of_wrong_clock';

/** Whether a text has the format of a gateway token, so that its signature is worth verifying. */
export function isGatewayToken(text: string): boolean {
  return GATEWAY_TOKEN.test(text);
}

/**
 * The claims of a token with a verified signature. Each has exactly its type and can be stored in Postgres.
 *
 * @returns `undefined` when a claim is missing or has another type.
 * Source: docs/reference/application-api.md#gateway-tokens, docs/reference/security.md#token-verification.
 */
export function readClaims(payload: Readonly<Record<string, unknown>>): GatewayTokenClaims | undefined {
  const { sub, app, auth_method, api_key_id, groups = {}, iat, exp, jti, proof, mode, app_version } = payload;
  const authMethod = AUTH_METHODS.find((method) => method === auth_method);
  if (!isUserId(sub) || !isText(app) || !isText(jti) || authMethod === undefined) return undefined;
  if (!isWholeNumber(iat) || !isWholeNumber(exp) || exp <= iat) return undefined;
  const isUnproven = proof === 'none' && (mode === 'tier' || mode === 'observe');
  if (isUnproven !== (authMethod === 'unproven')) return undefined;
  if ((api_key_id !== undefined && !isText(api_key_id)) || !isCallGroups(groups)) return undefined;
  if (app_version !== undefined && app_version !== null && !isText(app_version)) return undefined;
  return Object.freeze({
    appId: app,
    userId: sub,
    authMethod,
    apiKeyId: api_key_id ?? null,
    groups,
    unproven: isUnproven ? mode : null,
    attestedVersion: app_version,
    issuedAtMs: iat * 1000,
    expiresAtMs: exp * 1000,
  });
}

/**
 * The claims while they are in force, otherwise the reason.
 *
 * A token is accepted for at most its lifetime plus one minute from now. Otherwise a token from a clock that was ahead
 * would stay valid long after the clock was corrected (ADR 0014).
 */
export function validateTime(claims: GatewayTokenClaims, nowMs: number): GatewayTokenClaims | TokenRefusal {
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

/** Applications with issuer or installation users accept gateway tokens only. */
export function takesGatewayTokens(app: ReadableApp): boolean {
  return app.userSource === 'issuer' || app.userSource === 'app_install';
}

/**
 * Refuses an application key where only gateway tokens are accepted, before any cryptographic work.
 *
 * @throws auth_required
 * Source: docs/reference/application-api.md#credential-headers.
 */
export function refuseKeyForToken(credential: string): void {
  if (!isAppKey(credential)) return;
  throw refused(
    'gateway_token_required',
    'This application accepts gateway tokens only; exchange the API key for one.',
  );
}

/**
 * The claims of a token that is valid for this application.
 *
 * @param judged the claims, or why there are none.
 * @throws auth_required the token is invalid, expired, or for another application or authentication method.
 * Source: docs/reference/application-api.md#gateway-tokens.
 */
export function requireClaimsFor(app: ReadableApp, checked: GatewayTokenClaims | TokenRefusal): GatewayTokenClaims {
  if (checked === 'token_invalid') throw refused(checked, 'The gateway token is not valid; exchange a new one.');
  if (checked === 'token_expired') throw refused(checked, 'The gateway token has expired; exchange a new one.');
  if (checked === 'token_of_wrong_clock') {
    throw refused(checked, 'The gateway token was issued while a clock was wrong; exchange a new one.');
  }
  if (checked.appId !== app.id) {
    throw refused('token_of_other_app', 'The gateway token is for another application; exchange one for this one.');
  }
  if (!isMethodOf(app, checked)) {
    throw refused('token_of_other_method', 'The authentication of the application has changed; exchange a new token.');
  }
  return checked;
}

/** The authentication method of each proof. */
export const METHOD_OF_PROOF: Readonly<Record<ProofName, AuthMethod>> = {
  app_attest: 'attest',
  key_attestation: 'key_attestation',
  play_integrity: 'play_integrity',
};

/** The proof of an authentication method; `undefined`: none. */
export function proofOfMethod(method: AuthMethod): ProofName | undefined {
  return PROOF_NAMES.find((name) => METHOD_OF_PROOF[name] === method);
}

/** Lifetime of a new token. */
export function lifetimeSecondsOf(method: AuthMethod): number {
  return method === METHOD_OF_PROOF.key_attestation
    ? KEY_ATTESTATION_TOKEN_LIFETIME_SECONDS
    : GATEWAY_TOKEN_LIFETIME_SECONDS;
}

/** Whether the application still authenticates by this method. */
function isMethodOf(
  { config: { authentication } }: ReadableApp,
  { authMethod: method, unproven }: GatewayTokenClaims,
): boolean {
  if (authentication.type === 'api_key') return method === 'api_key';
  if (authentication.type === 'device_app_attest') return method === METHOD_OF_PROOF.app_attest;
  const { proofs } = authentication;
  if (unproven !== null) return PROOF_NAMES.some((name) => proofs[name]?.mode === unproven);
  const proof = proofOfMethod(method);
  return proof !== undefined && proofs[proof] !== undefined;
}

function refused(reason: Reason, message: string): GatewayError {
  return new GatewayError('auth_required', { message, reason });
}
