import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeHashOf, keyFactsOf, keyStateAt, shownStateAt } from './change-operation.rules.js';

const AT = new Date(1_000);

describe('keyStateAt', () => {
  it('held until the last millisecond; revealed stays revealed; the key of a terminal is not shown in the console', () => {
    const held = { actionSource: 'mcp', sealedUntil: AT, deliveredAt: null } as const;
    expect(keyStateAt(held, 999)).toBe('held');
    expect(keyStateAt(held, 1_000)).toBe('lapsed');
    expect(keyStateAt({ ...held, deliveredAt: AT }, 999)).toBe('revealed');
    expect(keyStateAt({ ...held, deliveredAt: AT }, 1_000)).toBe('revealed');
    expect(keyStateAt({ ...held, sealedUntil: null }, 999)).toBe('none');
    expect(keyStateAt({ ...held, actionSource: 'cli' }, 999)).toBe('none');
  });
});

describe('shownStateAt', () => {
  it('declined → expired, and says so', () => {
    expect(shownStateAt({ state: 'denied', expiresAt: AT }, 0)).toEqual({ state: 'expired', denied: true });
    expect(shownStateAt({ state: 'pending', expiresAt: AT }, 999)).toEqual({ state: 'pending' });
    expect(shownStateAt({ state: 'pending', expiresAt: AT }, 1_000)).toEqual({ state: 'expired' });
    expect(shownStateAt({ state: 'completed', expiresAt: AT }, 1_000)).toEqual({ state: 'completed' });
  });
});

describe('keyFactsOf', () => {
  const issued = { id: 'key_1', name: 'First', key_prefix: 'gw_abc' };

  it('for a new application, for another key, for no key', () => {
    expect(keyFactsOf({ app: { id: 'a', name: 'App' }, api_key: issued })).toEqual({
      ...{ id: 'key_1', name: 'First', prefix: 'gw_abc', appId: 'a', appName: 'App', key: undefined },
    });
    expect(keyFactsOf({ appId: 'a', api_key: { ...issued, key: 'gw_abcdef' } })).toMatchObject({
      ...{ appId: 'a', appName: undefined, key: 'gw_abcdef' },
    });
    expect([keyFactsOf(null), keyFactsOf({ provider: {} })]).toEqual([undefined, undefined]);
  });
});

describe('changeHashOf', () => {
  const sender = { organizationId: 'org', identityId: 'user' };

  it('the order of members → the same; any other value, kind, member or account → another', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (payload) => {
        const reversed = Object.fromEntries(Object.entries(payload).reverse());
        const hash = changeHashOf(sender, { kind: 'app.add', payload });
        expect(changeHashOf(sender, { kind: 'app.add', payload: reversed })).toBe(hash);
        const others = [
          changeHashOf(sender, { kind: 'provider.add', payload }),
          changeHashOf(sender, { kind: 'app.add', payload: { ...payload, name: { added: payload.name ?? 1 } } }),
          changeHashOf({ ...sender, organizationId: 'other' }, { kind: 'app.add', payload }),
          changeHashOf({ ...sender, identityId: 'other' }, { kind: 'app.add', payload }),
        ];
        expect(new Set([hash, ...others]).size).toBe(5);
      }),
    );
  });
});
