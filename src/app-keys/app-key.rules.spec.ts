import { describe, expect, it } from '@jest/globals';
import { SystemIds } from '../common/ids.js';
import { Secret } from '../common/log/secret.js';
import {
  displayPrefix,
  expiryOf,
  hashAppKey,
  isAppKey,
  isAppKeyId,
  requireKeyAuthentication,
  statusAt,
} from './app-key.rules.js';

const KEY = `gw_${'a1B2'.repeat(12)}`;

describe('isAppKey', () => {
  it('the form keys are issued in → true', () => {
    expect(isAppKey(KEY)).toBe(true);
    expect(isAppKey(`gw_${new SystemIds().base62(48)}`)).toBe(true);
  });

  it.each([
    ['a management key', `gw_mgmt_${'a'.repeat(48)}`],
    ['one character short', KEY.slice(0, -1)],
    ['one character long', `${KEY}a`],
    ['another brand', KEY.replace('gw_', 'sk_')],
    ['a line end', `${KEY}\n`],
    ['nothing', ''],
  ])('%s → false', (_name, text) => {
    expect(isAppKey(text)).toBe(false);
  });
});

describe('app key rules', () => {
  it('hash → SHA-256 in lower-case hex', () => {
    expect(hashAppKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('display prefix → the first twelve characters', () => {
    expect(displayPrefix(new Secret(KEY))).toBe(KEY.slice(0, 12));
  });

  it('id → key_ and twenty of 0-9a-z', () => {
    expect(isAppKeyId(`key_${'a0'.repeat(10)}`)).toBe(true);
    for (const id of [`key_${'a0'.repeat(9)}`, `key_${'A0'.repeat(10)}`, 'key_', `\u0000`]) {
      expect(isAppKeyId(id)).toBe(false);
    }
  });

  it.each([
    ['active', null, 'active'],
    ['active', 1_001, 'active'],
    ['active', 1_000, 'expired'],
    ['revoked', 1_000, 'revoked'],
  ] as const)('stored as %s, expiry %j, at 1000 → %s', (status, expiresAtMs, expected) => {
    const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs);
    expect(statusAt({ status, expiresAt }, 1_000)).toBe(expected);
  });

  it('expiry: absent or null → none; later than now → kept; now or before → refused by name', () => {
    const nowMs = Date.parse('2027-01-31T12:00:00Z');
    expect([expiryOf(undefined, nowMs), expiryOf(null, nowMs)]).toEqual([null, null]);
    expect(expiryOf('2027-01-31T13:00:00.001+01:00', nowMs)).toEqual(new Date(nowMs + 1));
    for (const past of ['2027-01-31T12:00:00Z', '2027-01-31T12:59:59+01:00']) {
      expect(() => expiryOf(past, nowMs)).toThrow(
        expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(/^expires_at: /) }),
      );
    }
  });

  it('application whose callers are devices → no keys', () => {
    expect(() => requireKeyAuthentication('device_app_attest')).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
    expect(() => requireKeyAuthentication('api_key')).not.toThrow();
  });
});
