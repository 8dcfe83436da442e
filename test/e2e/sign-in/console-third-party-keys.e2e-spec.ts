import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SESSION_COOKIE } from '../../../src/accounts/sessions/session-cookie.rules.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { setCookieOf, startConsoleWorld } from '../../support/sign-in/console.js';
import { newOpenIdPerson, newSigningKey, OpenIdProvider } from '../../support/sign-in/openid-provider.js';
import { placeOf, REDIRECT_URI, signInThrough, thirdPartySettings, userOf } from '../../support/sign-in/third-party.js';
import type { World } from '../../support/world.js';

const KEYS = '/jwks';
/** How long known keys are used without a check. */
const QUESTIONED_AFTER_MS = 60_000;

let provider: OpenIdProvider;
let world: World;

beforeEach(async () => {
  provider = await OpenIdProvider.start(REDIRECT_URI);
  provider.person = newOpenIdPerson();
  world = await startConsoleWorld({ env: thirdPartySettings(provider) });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await world.stop();
  await provider.stop();
});

const signIn = () => signInThrough(provider, world);
const timesRead = () => provider.called.filter((path) => path === KEYS).length;

/** Shifts the time of day in this process; it continues from there. */
function later(ms: number): void {
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

function expectRefused(answer: ApiAnswer): void {
  expect(placeOf(answer)).toBe('/login?error=sign_in_failed');
  expect(setCookieOf(answer, SESSION_COOKIE)).toBeUndefined();
}

describe('keys of the provider (OpenID Connect Core 10.1.1)', () => {
  it('they rotate between two sign-ins → the second succeeds without a restart; a key that was withdrawn is refused', async () => {
    const withdrawn = await provider.rotateKey();
    const person = await userOf(world, await signIn());
    await provider.rotateKey();
    later(QUESTIONED_AFTER_MS);
    expect(await userOf(world, await signIn())).toEqual(person);
    expect(timesRead()).toBe(2);
    provider.forge = (claims) => claims;
    provider.forgingKey = withdrawn;
    expectRefused(await signIn());
  });

  it('an unpublished key → refused after the keys were fetched again, at most once a minute', async () => {
    await userOf(world, await signIn());
    provider.forge = (claims) => claims;
    provider.forgingKey = await newSigningKey();
    expectRefused(await signIn());
    expect(timesRead()).toBe(1);
    later(QUESTIONED_AFTER_MS);
    expectRefused(await signIn());
    expectRefused(await signIn());
    expect(timesRead()).toBe(2);
    provider.forgingKey = undefined;
    await userOf(world, await signIn());
  });

  it('another key under the name of a published one → refused', async () => {
    provider.forge = (claims) => claims;
    provider.forgingKey = { ...(await newSigningKey()), kid: (await provider.rotateKey()).kid };
    expectRefused(await signIn());
    provider.forgingKey = undefined;
    await userOf(world, await signIn());
  });
});
