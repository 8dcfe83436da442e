import { hash } from 'node:crypto';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Secret } from '../common/log/secret.js';

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
