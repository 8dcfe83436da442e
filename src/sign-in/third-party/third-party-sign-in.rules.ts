import { createHmac } from 'node:crypto';
import { AuthorizationResponseError } from 'openid-client';
import { readSignedCookie, signedCookie } from '../../accounts/sessions/session-cookie.rules.js';
import { isInForce } from '../../common/credential-lifetime.rules.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/**
 * Maximum time between the redirect and the callback.
 *
 * Source: docs/reference/management-api.md#sessions-and-cookies.
 */
export const SIGN_IN_STATE_SECONDS = 10 * 60;
/** Space for two paths of the console and a token, in base64. */
const MAX_COOKIE_CHARACTERS = 2_048;

/** The state of a sign-in that the browser keeps in a cookie. */
export interface SignInState {
  /** Random; state, nonce and PKCE verifier derive from it. */
  readonly secret: string;
  readonly callbackPath: string;
  readonly errorPath: string;
  readonly invitationToken: string | null;
  /** As `NewPerson.isClaiming`. */
  readonly isClaiming?: boolean;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** The values that bind the provider's response to the browser. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  /** PKCE. Source: RFC 7636, 4.1. */
  readonly codeVerifier: string;
}

/** Three independent values. The provider sees two of them before the third, so none may reveal another. */
export function checksOf({ secret }: Pick<SignInState, 'secret'>): SignInChecks {
  const derived = (purpose: string) => createHmac('sha256', secret).update(purpose).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), codeVerifier: derived('code verifier') };
}

/** The state as a signed cookie value. */
export function signInStateCookie(state: SignInState, key: Uint8Array): string {
  return signedCookie(Buffer.from(JSON.stringify(state)).toString('base64url'), key);
}

/**
 * The state of a signed cookie.
 *
 * @param keys the accepted signing keys.
 * @returns `undefined` when the cookie is missing, expired, or its signature is invalid.
 */
export function readSignInState(
  cookie: string | undefined,
  keys: readonly Uint8Array[],
  nowMs: number,
): SignInState | undefined {
  const value = readSignedCookie(cookie, keys, MAX_COOKIE_CHARACTERS);
  if (value === undefined) return undefined;
  const state: SignInState = JSON.parse(Buffer.from(value, 'base64url').toString());
  return isInForce(state.expiresAtMs, SIGN_IN_STATE_SECONDS * 1000, nowMs) ? state : undefined;
}

/** The reason of a failed third-party sign-in, as the console's page receives it. */
export type ThirdPartyFailure =
  | 'access_denied'
  | 'registration_disabled'
  | 'account_exists'
  | 'invitation_invalid'
  | 'sign_in_expired'
  | 'sign_in_failed';

/** A failed third-party sign-in; the browser is redirected to the console. */
export class ThirdPartyRefusal extends Error {
  constructor(
    readonly failure: ThirdPartyFailure,
    options: { readonly cause?: unknown } = {},
  ) {
    super(failure, options);
    this.name = 'ThirdPartyRefusal';
  }
}

/** The failure for an error response or an invalid response of the provider. */
export function failureOfResponse(error: unknown): ThirdPartyFailure {
  const hasDeclined = error instanceof AuthorizationResponseError && error.error === 'access_denied';
  return hasDeclined ? 'access_denied' : 'sign_in_failed';
}

/** The failure for a refused sign-up; `undefined` for every other error. */
export function failureOfSignUp(error: unknown): ThirdPartyFailure | undefined {
  if (!(error instanceof GatewayError)) return undefined;
  switch (error.code) {
    case 'registration_disabled':
      return 'registration_disabled';
    case 'conflict':
      return 'account_exists';
    case 'not_found':
    case 'forbidden':
      return 'invitation_invalid';
    default:
      return undefined;
  }
}

/** The messages of an error and up to two causes, for the log. None repeats a sent value. */
export function failureText(error: unknown): string {
  const texts: string[] = [];
  for (let next = error; next instanceof Error && texts.length < 3; next = next.cause) texts.push(next.message);
  return texts.join(': ');
}
