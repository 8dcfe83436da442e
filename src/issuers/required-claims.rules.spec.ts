import { describe, expect, it } from '@jest/globals';
import type { RequiredClaim } from '../app-directory/config/app-config.js';
import { hasRequiredClaims } from './required-claims.rules.js';

const matches = (
  claim: unknown,
  requirement: { contains: string | string[] } | { equals: string | number | boolean },
) => hasRequiredClaims({ claim }, [{ path: 'claim', ...requirement }]);

/** Milliseconds of the fastest of five runs, which is stable on a busy machine. */
function fastestMs(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const startedMs = performance.now();
    run();
    return performance.now() - startedMs;
  });
  return Math.min(...times);
}

describe('required claims at lists of names', () => {
  const claims = { 'https://example.com/claims': { plan: ['pro'] }, 'a.b': 'x', a: { b: 'y' } };
  const at = (path: RequiredClaim['path'], contains: string) => hasRequiredClaims(claims, [{ path, contains }]);

  it('the name of a claim is a URL → found; a dotted text of it → not', () => {
    expect(at(['https://example.com/claims', 'plan'], 'pro')).toBe(true);
    expect(at('https://example.com/claims.plan', 'pro')).toBe(false);
    expect(hasRequiredClaims(claims, [{ path: ['a.b'], equals: 'x' }])).toBe(true);
  });

  it('a list and a text that read alike → each finds its own, in one check', () => {
    const required: RequiredClaim[] = [
      { path: ['a.b'], contains: 'x' },
      { path: 'a.b', contains: 'y' },
      { path: ['a', 'b'], contains: 'y' },
    ];
    expect(hasRequiredClaims(claims, required)).toBe(true);
    expect(hasRequiredClaims(claims, [...required, { path: ['a.b'], contains: 'y' }])).toBe(false);
  });
});

describe('required claims', () => {
  it.each<[unknown, string | string[]]>([
    [['a', 'x'], 'x'],
    ['x', 'x'],
    ['a x b', 'x'],
    ['a\t\n x', 'x'],
    ['two words', 'two words'],
    [['y'], ['x', 'y']],
    ['a y', ['x', 'y']],
  ])('contains: %j has %j → met', (claim, contains) => expect(matches(claim, { contains })).toBe(true));

  it.each<[unknown, string | string[]]>([
    [['a'], 'x'],
    [['a x'], 'x'],
    [[['x']], 'x'],
    [[1], '1'],
    ['xy', 'x'],
    ['a,x', 'x'],
    ['X', 'x'],
    ['a two words', 'two words'],
    [1, '1'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{ x: true }, 'x'],
    [[], 'x'],
    ['', ['x', 'y']],
  ])('contains: %j has no %j → not met', (claim, contains) => expect(matches(claim, { contains })).toBe(false));

  it.each(['pro', '', 0, 1.5, true, false])('equals: %j with itself → met', (value) => {
    expect(matches(value, { equals: value })).toBe(true);
  });

  it.each<[unknown, string | number | boolean]>([
    ['1', 1],
    [1, '1'],
    [1, true],
    [0, false],
    ['true', true],
    [['pro'], 'pro'],
    [null, false],
    [undefined, false],
    ['Pro', 'pro'],
    ['pro ', 'pro'],
  ])('equals: %j with %j → not met', (claim, equals) => expect(matches(claim, { equals })).toBe(false));

  it('several requirements → all must match, each at its path', () => {
    const required: RequiredClaim[] = [
      { path: 'plan.name', equals: 'pro' },
      { path: 'entitlements', contains: ['gold', 'silver'] },
    ];
    expect(hasRequiredClaims({ plan: { name: 'pro' }, entitlements: ['silver'] }, required)).toBe(true);
    expect(hasRequiredClaims({ plan: { name: 'pro' }, entitlements: ['tin'] }, required)).toBe(false);
    expect(hasRequiredClaims({ 'plan.name': 'pro', entitlements: ['gold'] }, required)).toBe(false);
  });

  it('no requirement → met', () => expect(hasRequiredClaims({}, [])).toBe(true));

  it('a thousand requirements on one long claim → judged in a moment', () => {
    const claim = 'w '.repeat(12_000);
    const required = Array.from({ length: 1_000 }, () => ({ path: 'claim', contains: 'w' }));
    expect(fastestMs(() => expect(hasRequiredClaims({ claim }, required)).toBe(true))).toBeLessThan(50);
  });
});
