import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RequiredClaim } from '../../../../src/app-directory/config/issuer-config.js';
import { hasRequiredClaims } from '../../../../src/client-auth/issuers/claim-path.rules.js';
import {
  claimPathsOf,
  claimsOf,
  fulfils,
  ISSUER_PRESETS,
  issuerOf,
  listOfText,
  missingOf,
  textOfList,
} from './issuer.rules';

const tokenOf = (payload: string) => `e30.${Buffer.from(payload).toString('base64url')}.signature`;

describe('fulfils', () => {
  const word = fc.constantFrom('pro', 'team', 'pro team', ' pro', '', 'toString', 'a.b', 'a');
  const value = fc.oneof(word, fc.array(word), fc.boolean(), fc.integer({ max: 2 }), fc.constant(null));
  const claims = fc.dictionary(word, fc.oneof(value, fc.dictionary(word, value)));
  const path = fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 3 }));
  const required = fc.oneof(
    fc.record({ path, equals: fc.oneof(word, fc.boolean(), fc.integer({ max: 2 })) }),
    fc.record({ path, contains: fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 3 })) }),
  );

  it('any claims, any requirement → the same decision as the gateway’s', () => {
    fc.assert(
      fc.property(claims, required, (token, requirement) => {
        expect(fulfils(token, requirement as never)).toBe(hasRequiredClaims(token, [requirement as RequiredClaim]));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('claimsOf', () => {
  it('token → its claims, with letters beyond ASCII', () => {
    expect(claimsOf(` ${tokenOf('{"sub":"Ünal","plan":{"name":"pro"}}')} `)).toEqual({
      sub: 'Ünal',
      plan: { name: 'pro' },
    });
  });

  it.each(['', 'a.b', 'a.!!.c', tokenOf('['), tokenOf('7'), tokenOf('null')])('%s → none', (token) => {
    expect(claimsOf(token)).toBeUndefined();
  });
});

describe('issuerOf', () => {
  it.each(ISSUER_PRESETS.map((preset) => [preset.id, preset] as const))(
    '%s → URLs that contain the values, and a field for every value',
    (_id, preset) => {
      const names = [...new Set(JSON.stringify(preset).match(/\{(\w+)\}/g) ?? [])].map((name) => name.slice(1, -1));
      const filled = issuerOf(preset, Object.fromEntries(names.map((name) => [name, ' mine '])));
      expect(preset.fields.map(({ name }) => name).sort()).toEqual([...names].sort());
      expect(missingOf(preset, { [names[0] ?? '']: '  ' })).toEqual(preset.fields.map(({ label }) => label));
      expect(missingOf(preset, Object.fromEntries(names.map((name) => [name, 'mine'])))).toEqual([]);
      for (const text of [filled.jwks_url, filled.issuer, filled.audience]) expect(text).not.toMatch(/\{\w+\}/);
    },
  );
});

it('lists and texts → the same after a round trip', () => {
  expect(listOfText('one, two')).toEqual(['one', 'two']);
  expect(listOfText('one')).toBe('one');
  expect(textOfList(['one', 'two'])).toBe('one, two');
  expect(textOfList(['user', 'id'], '.')).toBe('user.id');
});

describe('claimPathsOf', () => {
  it('claims → the paths by which a requirement finds them', () => {
    const claims = { sub: 'ann', roles: ['pro'], app: { plan: 'team', '': 1 }, 'https://example.com/role': 'x' };
    const paths = claimPathsOf(claims);
    expect(paths).toEqual(['sub', 'roles', 'app.plan']);
    expect(fulfils(claims, { path: 'app.plan', equals: 'team' })).toBe(true);
  });
});
