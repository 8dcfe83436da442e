import type { ApiAnswer } from '../api-client.js';
import type { World } from '../world.js';
import { browserOf, sessionCookieOf, setCookieOf } from './console.js';
import { OPENID_CLIENT, type OpenIdProvider } from './openid-provider.js';

/** Where browsers show the console. */
export const CONSOLE = 'https://console.example.com';
export const CALLBACK = '/v1/auth/callback/google';
export const REDIRECT_URI = `${CONSOLE}${CALLBACK}`;
/** What a browser keeps while it is away. */
export const STATE_COOKIE = 'gw_identity_third_party_state';

type Place = Pick<World, 'with' | 'consoleOrigin'>;

/** Settings of a console whose people sign in at a provider. */
export function thirdPartySettings({ issuer }: OpenIdProvider): Record<string, string> {
  return {
    PUBLIC_URL: CONSOLE,
    GOOGLE_ISSUER_URL: issuer,
    GOOGLE_CLIENT_ID: OPENID_CLIENT.id,
    GOOGLE_CLIENT_SECRET: OPENID_CLIENT.secret,
  };
}

export function beginAt(at: Place, body: object = {}): Promise<ApiAnswer> {
  return browserOf(at).post('/v1/auth/sign-in/social', { provider: 'google', ...body });
}

/** `Cookie` header of what the browser keeps while it is away. */
export function stateOf(answer: ApiAnswer): string {
  return setCookieOf(answer, STATE_COOKIE)?.split(';')[0] ?? '';
}

/** Comes back from the provider to where it has sent the browser. */
export function comeBackTo(at: Place, query: string, cookie: string): Promise<ApiAnswer> {
  return browserOf(at, { cookie }).get(`${CALLBACK}${query}`);
}

/** The whole way: there, signing in, and back. */
export async function signInThrough(
  provider: OpenIdProvider,
  at: Place,
  { body = {}, cookie = '' } = {},
): Promise<ApiAnswer> {
  const begun = await beginAt(at, body);
  const { search } = await provider.visit(begun.body.url);
  return comeBackTo(at, search, [stateOf(begun), cookie].filter(Boolean).join('; '));
}

/** Where the answer sends the browser. */
export function placeOf({ status, headers }: ApiAnswer): string | null {
  if (status !== 302) throw new Error(`a redirect was expected, not ${status}`);
  return headers.get('location');
}

/** Whose session the answer has begun. */
export async function userOf(at: Place, answer: ApiAnswer) {
  const { body } = await browserOf(at, { cookie: sessionCookieOf(answer) }).get('/v1/auth/get-session');
  return body.user;
}
