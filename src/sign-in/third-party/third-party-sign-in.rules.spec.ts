import { describe, expect, it } from '@jest/globals';
import { checksOf, readSignInState, type SignInState, signInStateCookie } from './third-party-sign-in.rules.js';

const KEY = Buffer.alloc(32, 1);
const OLD_KEY = Buffer.alloc(32, 2);
const NOW = Date.UTC(2030, 0, 1);
const STATE: SignInState = {
  secret: 's'.repeat(48),
  callbackPath: `/${'a'.repeat(399)}`,
  errorPath: `/${'b'.repeat(399)}`,
  invitationToken: 't'.repeat(200),
  expiresAtMs: NOW + 1_000,
};

describe('the state of a sign-in at a third party', () => {
  it('stored data of the maximum length → read back, even after the key was rotated', () => {
    expect(readSignInState(signInStateCookie(STATE, KEY), [KEY], NOW)).toEqual(STATE);
    expect(readSignInState(signInStateCookie(STATE, OLD_KEY), [KEY, OLD_KEY], NOW)).toEqual(STATE);
  });

  it('its last millisecond → read; the next → expired', () => {
    const cookie = signInStateCookie(STATE, KEY);
    expect(readSignInState(cookie, [KEY], NOW + 999)).toEqual(STATE);
    expect(readSignInState(cookie, [KEY], NOW + 1_000)).toBeUndefined();
  });

  it.each([
    [660_000, true],
    [660_001, false],
    [31_536_000_000, false],
  ])('ADR 0014: %d ms before its expiry by a clock that was ahead → read: %s', (leftMs, isRead) => {
    const cookie = signInStateCookie({ ...STATE, expiresAtMs: NOW + leftMs }, KEY);
    expect(readSignInState(cookie, [KEY], NOW) !== undefined).toBe(isRead);
  });

  it.each([
    ['no cookie', undefined],
    ['another key', signInStateCookie(STATE, OLD_KEY)],
    ['another content', `e30.${signInStateCookie(STATE, KEY).split('.')[1]}`],
    ['nothing signed', signInStateCookie(STATE, KEY).split('.')[0]],
    ['more than we make', `${'a'.repeat(3_000)}.x`],
  ])('%s → nothing', (_name, cookie) => expect(readSignInState(cookie, [KEY], NOW)).toBeUndefined());

  it('one secret → state, nonce and verifier of 43 characters, all different; another secret → different ones', () => {
    const checks = Object.values(checksOf(STATE));
    const others = Object.values(checksOf({ secret: 'other' }));
    expect(new Set([...checks, ...others]).size).toBe(6);
    for (const text of checks) expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Object.values(checksOf(STATE))).toEqual(checks);
  });
});
