import { createHash } from 'node:crypto';
import { instantOf, wholeSecondsUntil } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** A limit and the words of its refusal. */
interface AddressPolicy {
  /** Maximum calls per window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** The counted action, plural, for the refusal message. */
  readonly action: string;
  /** The scope of the count, for the refusal message. */
  readonly sharedBy: string;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const FROM_ONE_ADDRESS = 'for this application from one address';

/**
 * Every limit by address or by another subject.
 *
 * Source: docs/reference/application-api.md#address-limits, docs/reference/management-api.md#address-limits.
 */
export const ADDRESS_LIMITS = {
  app_auth_challenge: { limit: 60, windowSeconds: MINUTE, action: 'challenges', sharedBy: FROM_ONE_ADDRESS },
  app_auth_register: { limit: 60, windowSeconds: MINUTE, action: 'registrations', sharedBy: FROM_ONE_ADDRESS },
  app_auth_token: { limit: 60, windowSeconds: MINUTE, action: 'token exchanges', sharedBy: FROM_ONE_ADDRESS },
  sign_in_address: { limit: 10, windowSeconds: MINUTE, action: 'sign-ins', sharedBy: 'from one address' },
  passkey_challenge: { limit: 30, windowSeconds: MINUTE, action: 'sign-ins', sharedBy: 'from one address' },
  sign_in_email: { limit: 10, windowSeconds: 10 * MINUTE, action: 'sign-ins', sharedBy: 'with one e-mail address' },
  password_reset: { limit: 10, windowSeconds: 10 * MINUTE, action: 'password resets', sharedBy: 'from one address' },
  claim: { limit: 10, windowSeconds: MINUTE, action: 'claims', sharedBy: 'from one address' },
  bootstrap: { limit: 3, windowSeconds: 24 * HOUR, action: 'new accounts', sharedBy: 'from one address' },
  login: { limit: 20, windowSeconds: HOUR, action: 'logins', sharedBy: 'from one address' },
  operation: { limit: 10, windowSeconds: MINUTE, action: 'browser steps', sharedBy: 'for one account' },
  submission: { limit: 10, windowSeconds: MINUTE, action: 'steps', sharedBy: 'for one operation' },
  user_code: { limit: 10, windowSeconds: MINUTE, action: 'codes', sharedBy: 'from one address' },
  user_code_wrong: { limit: 10, windowSeconds: MINUTE, action: 'wrong codes', sharedBy: 'from one address' },
  user_code_total: { limit: 600, windowSeconds: HOUR, action: 'wrong codes', sharedBy: 'from all addresses together' },
  oauth_authorize: { limit: 30, windowSeconds: 10 * MINUTE, action: 'authorizations', sharedBy: 'from one address' },
  invitation: { limit: 10, windowSeconds: MINUTE, action: 'looks at invitations', sharedBy: 'from one address' },
} as const satisfies Record<string, AddressPolicy>;

/** Name of an address limit, as in `data.scope`. */
export type AddressLimitScope = keyof typeof ADDRESS_LIMITS;

/** A window, in milliseconds since the Unix epoch; `endMs` is exclusive. */
export interface LimitWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** The subject of a count. */
export interface CountedCaller {
  /** An address from `clientAddress`, or another subject in canonical form. */
  readonly subject: string;
  /** The application in the route, as sent; absent outside of application routes. */
  readonly app?: string | undefined;
}

/**
 * The window that contains an instant: fixed, aligned to the clock.
 *
 * Source: docs/reference/application-api.md#address-limits.
 */
export function windowAt(nowMs: number, windowSeconds: number): LimitWindow {
  const lengthMs = windowSeconds * 1000;
  const startMs = Math.floor(nowMs / lengthMs) * lengthMs;
  return { startMs, endMs: startMs + lengthMs };
}

/**
 * Name of a counter: a SHA-256 hash, so that neither memory nor Redis holds an address. The application is the last
 * part because the client chooses it: no value of it can produce the name of another subject's counter.
 *
 * @returns 43 characters of base64url.
 * Source: docs/reference/application-api.md#address-limits, docs/reference/management-api.md#address-limits.
 */
export function counterName(scope: AddressLimitScope, { subject, app = '' }: CountedCaller): string {
  return createHash('sha256').update(`${scope}\n${subject}\n${app}`).digest('base64url');
}

/**
 * Refusal of a call beyond the limit: 429 `rate_limited`.
 *
 * @param nowMs determines `Retry-After`: whole seconds to the end of the window, at least 1.
 * Source: docs/reference/application-api.md#address-limits.
 */
export function addressLimitRefusal(scope: AddressLimitScope, window: LimitWindow, nowMs: number): GatewayError {
  const { limit, windowSeconds, action, sharedBy } = ADDRESS_LIMITS[scope];
  const retryAfterSeconds = wholeSecondsUntil(window.endMs, nowMs);
  const resetAt = instantOf(window.endMs).toISOString();
  return new GatewayError('rate_limited', {
    message: `Too many requests: at most ${limit} ${action} per ${windowSeconds} seconds are allowed ${sharedBy}.`,
    reason: 'address_limit_reached',
    data: { scope, limit, windowSeconds, retryAfterSeconds, resetAt },
    retryAfterSeconds,
  });
}
