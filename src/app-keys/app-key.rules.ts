import { hash } from 'node:crypto';
import { epochMsOf, type Instant, instantOf } from '../common/clock.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import type { Reason } from '../common/errors/reasons.js';
import type { Secret } from '../common/log/secret.js';
import type { AppKey, AppKeyRow, AppKeyStatus } from './app-key.entity.js';

/** Prefix of every application key. Source: docs/reference/application-api.md#api-keys. */
export const APP_KEY_BRAND = 'gw_';
/** Base62 characters after the brand. */
export const APP_KEY_RANDOM_LENGTH = 48;
const KEY_PREFIX_LENGTH = 12;
const APP_KEY = /^gw_[0-9A-Za-z]{48}$/;
const KEY_ID = /^key_[0-9a-z]{20}$/;

/** Base36 characters after `key_` in the id of a key. */
export const KEY_ID_RANDOM_LENGTH = 20;

/** Whether a text has the format of an application key; a management key has not. */
export function isAppKey(text: string): boolean {
  return APP_KEY.test(text);
}

/** Whether a text has the format of a key id. */
export function isAppKeyId(text: string): boolean {
  return KEY_ID.test(text);
}

/** The stored form of a key for look-ups: SHA-256 in lower-case hex. 285 random bits need no slow hash. */
export function hashAppKey(plaintext: string): string {
  return hash('sha256', plaintext, 'hex');
}

/** The prefix of a key for display. */
export function displayPrefix(key: Secret): string {
  return key.reveal().slice(0, KEY_PREFIX_LENGTH);
}

/** The status of a stored key at a time. A revoked key stays revoked. */
export function statusAt({ status, expiresAt }: Pick<AppKeyRow, 'status' | 'expiresAt'>, nowMs: number): AppKeyStatus {
  return status === 'active' && expiresAt !== null && expiresAt.getTime() <= nowMs ? 'expired' : status;
}

/**
 * Why a key does not open an application. Only the log tells an expired key from any other.
 *
 * @param otherwise the reason for any other key.
 */
export function refusalReason(appId: string, key: AppKey | undefined, otherwise: Reason): Reason {
  return key?.appId === appId && key.status === 'expired' ? 'app_key_expired' : otherwise;
}

/**
 * When a new key expires.
 *
 * @param asked a time with a time zone; a key without one does not expire.
 * @throws invalid_request naming `expires_at`: it has passed.
 */
export function expiryOf(asked: string | null | undefined, nowMs: number): Instant | null {
  if (asked === undefined || asked === null) return null;
  const expiresAtMs = epochMsOf(asked);
  if (expiresAtMs <= nowMs) throw invalidRequest('expires_at', 'must be in the future');
  return instantOf(expiresAtMs);
}

/**
 * Refuses an application that does not use key authentication.
 *
 * @throws invalid_request
 * Source: docs/reference/management-api.md#application-keys.
 */
export function requireKeyAuthentication(authenticationType: string): void {
  if (authenticationType === 'api_key') return;
  throw new GatewayError('invalid_request', {
    message: 'app: only applications with authentication type "api_key" have keys.',
    reason: 'app_without_keys',
  });
}
