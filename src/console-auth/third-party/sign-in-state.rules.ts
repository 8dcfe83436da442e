import { createHmac } from 'node:crypto';
import { isInForce } from '../../common/credential-lifetime.rules.js';
import { readSignedCookie, signedCookie } from '../../identity/sessions/session-cookie.rules.js';

/** How long a person may take at the provider. Source: docs/reference/management-api.md#sessions-and-cookies. */
export const SIGN_IN_STATE_SECONDS = 10 * 60;
/** Room for two paths of the console and a token, in base64. */
const MAX_COOKIE_CHARACTERS = 2_048;

/** What a browser keeps of a sign-in that has gone to the provider. */
export interface SignInState {
  /** Random; everything that the provider sends back or is sent derives from it. */
  readonly secret: string;
  readonly callbackPath: string;
  readonly errorPath: string;
  readonly invitationToken: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** What ties an answer of the provider to the browser that asked. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  /** PKCE. Source: RFC 7636, 4.1. */
  readonly codeVerifier: string;
}

/** Three texts that tell nothing of each other: the provider sees two of them before the third. */
export function checksOf({ secret }: Pick<SignInState, 'secret'>): SignInChecks {
  const derived = (purpose: string) => createHmac('sha256', secret).update(purpose).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), codeVerifier: derived('code verifier') };
}

/** The cookie that keeps it, signed. */
export function signInStateCookie(state: SignInState, key: Uint8Array): string {
  return signedCookie(Buffer.from(JSON.stringify(state)).toString('base64url'), key);
}

/**
 * The state of a cookie of ours.
 *
 * @param keys any of which may have signed it.
 * @returns `undefined` when it is missing, was not made by us, or has run out.
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
