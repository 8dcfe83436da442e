import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalidRequest } from '../../common/errors/gateway-error.js';

/** Source: docs/reference/management-api.md#sessions-and-cookies. */
export const SESSION_COOKIE = 'gw_identity_auth.session_token';
export const ORGANIZATION_COOKIE = 'gw_identity_current_organization';
/** Lifetime from the last renewal. Source: docs/reference/management-api.md#sessions-and-cookies. */
export const SESSION_LIFETIME_SECONDS = 7 * 24 * 60 * 60;
const ORGANIZATION_COOKIE_SECONDS = 31_536_000;
/** A session is renewed at most once in this period. Source: docs/reference/management-api.md#sessions-and-cookies. */
const RENEW_AFTER_MS = 24 * 60 * 60 * 1000;
/** Longer values are refused before they are hashed. */
const MAX_VALUE_CHARACTERS = 512;

/** Attributes of the console's cookies. Source: docs/reference/management-api.md#sessions-and-cookies. */
export interface CookieFlags {
  readonly httpOnly: true;
  readonly path: '/';
  readonly sameSite: 'lax';
  readonly secure: boolean;
  readonly maxAge: number;
}

/** @param isHttps whether the console is served over https. */
export function sessionCookieFlags(isHttps: boolean): CookieFlags {
  return { httpOnly: true, path: '/', sameSite: 'lax', secure: isHttps, maxAge: SESSION_LIFETIME_SECONDS };
}

/** @param isHttps whether the console is served over https. */
export function organizationCookieFlags(isHttps: boolean): CookieFlags {
  return { httpOnly: true, path: '/', sameSite: 'lax', secure: isHttps, maxAge: ORGANIZATION_COOKIE_SECONDS };
}

/**
 * Refuses two session cookies. A sibling host can set a second one with a longer path, which comes first and makes the
 * browser act in another person's session.
 *
 * @param header the `Cookie` header.
 * @throws invalid_request
 * Source: docs/reference/security.md#request-heads, RFC 6265, 8.6.
 */
export function refuseRepeatedSession(header: string | undefined): void {
  if (header === undefined || header.indexOf(SESSION_COOKIE) === header.lastIndexOf(SESSION_COOKIE)) return;
  const sessions = header.split(';').filter((pair) => pair.split('=', 1)[0]?.trim() === SESSION_COOKIE);
  if (sessions.length > 1) throw invalidRequest('Cookie', `holds ${SESSION_COOKIE} more than once`, 'cookie_repeated');
}

/** Whether to extend the session by a full lifetime: at most once a day, so that most reads do not write. */
export function isRenewalDue(renewedAtMs: number, nowMs: number): boolean {
  return nowMs - renewedAtMs >= RENEW_AFTER_MS;
}

/** `<value>.<signature>`, the signature an HMAC-SHA256 in base64url. */
export function signedCookie(value: string, key: Uint8Array): string {
  return `${value}.${signatureOf(value, key)}`;
}

/**
 * The value of a signed cookie.
 *
 * @param keys the accepted signing keys.
 * @param maxCharacters longer values are refused.
 * @returns `undefined` when the cookie is missing, too long, malformed, or its signature is invalid.
 */
export function readSignedCookie(
  cookie: string | undefined,
  keys: readonly Uint8Array[],
  maxCharacters = MAX_VALUE_CHARACTERS,
): string | undefined {
  if (cookie === undefined || cookie.length > maxCharacters) return undefined;
  const dot = cookie.lastIndexOf('.');
  if (dot <= 0) return undefined;
  const value = cookie.slice(0, dot);
  const signature = Buffer.from(cookie.slice(dot + 1));
  const isSigned = keys.some((key) => {
    const expected = Buffer.from(signatureOf(value, key));
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  });
  return isSigned ? value : undefined;
}

function signatureOf(value: string, key: Uint8Array): string {
  return createHmac('sha256', key).update(value).digest('base64url');
}
