import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import type { RequiredClaim } from '../../app-directory/config/issuer-config.js';
import { type Claims, claimAt, hasRequiredClaims } from './claim-path.rules.js';

/** Long runs configure more. */
const FUZZ_RUNS = fuzzRuns(2_000);

const NAMES = [
  'a',
  'b',
  '0',
  '-1',
  'length',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
];
const name = fc.constantFrom(...NAMES);

/** JSON texts, because only a parser creates an own member `__proto__`. */
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', '0', '1.5', '""', '"a"', '"length"'),
    fc.array(tie('json'), { maxLength: 3 }).map((elements) => `[${elements.join()}]`),
    fc.array(fc.tuple(name, tie('json')), { maxLength: 4 }).map(objectText),
  ),
}));
const claimsText = fc.array(fc.tuple(name, json), { maxLength: 5 }).map(objectText);
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('.'));

function objectText(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`;
}

/** An independent implementation of the rule, by lists of members. */
function memberAt(value: unknown, names: readonly string[]): unknown {
  const [first, ...rest] = names;
  if (first === undefined) return value;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const member = Object.entries(value).find(([key]) => key === first);
  return member && memberAt(member[1], rest);
}

describe('claim paths: separated by dots, own properties of objects', () => {
  const claims: Claims = JSON.parse(`{
    "sub": "u", "plan": {"name": "pro", "": {"x": 1}}, "list": [{"name": "pro"}], "text": "abc", "none": null,
    "__proto__": {"own": "yes"}, "a.b": "dotted"
  }`);

  it.each([
    ['sub', 'u'],
    ['plan.name', 'pro'],
    ['plan', { name: 'pro', '': { x: 1 } }],
    ['plan..x', 1],
    ['list', [{ name: 'pro' }]],
    ['none', null],
    ['__proto__.own', 'yes'],
  ])('%s → the value at that path', (at, expected) => {
    expect(claimAt(claims, at)).toEqual(expected);
  });

  it.each(['list.0', 'list.0.name', 'list.length', 'text.length', 'text.0', 'none.x', 'plan.name.length'])(
    'an array or scalar along the path: %s → absent',
    (at) => expect(claimAt(claims, at)).toBeUndefined(),
  );

  it.each(['', '.', 'sub.', '.sub', 'constructor', 'toString', 'plan.__proto__', 'plan.constructor.name', 'a.b'])(
    'no own property: "%s" → absent',
    (at) => expect(claimAt(claims, at)).toBeUndefined(),
  );

  it.each([
    [['sub'], 'u'],
    [['plan', 'name'], 'pro'],
    [['a.b'], 'dotted'],
    [['plan', '', 'x'], 1],
    [['__proto__', 'own'], 'yes'],
  ])('a list, %j → the value at that path, with dots as part of a name', (at, expected) => {
    expect(claimAt(claims, at)).toEqual(expected);
  });

  it.each([
    [['plan.name']],
    [['a', 'b']],
    [['list', '0']],
    [['list', 'length']],
    [['constructor', 'name']],
    [['plan', '__proto__']],
    [['none', 'x']],
  ])('a list, %j: not an own property of an object → absent', (at) => expect(claimAt(claims, at)).toBeUndefined());

  it('any claims, any list → the same as searching the members one by one', () => {
    const names = fc.array(fc.oneof(name, fc.constant('https://a.example/b')), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(claimsText, names, (text, at) => {
        const parsed: Claims = JSON.parse(text);
        expect(claimAt(parsed, at)).toStrictEqual(memberAt(parsed, at));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('any claims, any path → the same as searching the members one by one', () => {
    fc.assert(
      fc.property(claimsText, path, (text, at) => {
        const parsed: Claims = JSON.parse(text);
        expect(claimAt(parsed, at)).toStrictEqual(memberAt(parsed, at.split('.')));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});

const matches = (
  claim: unknown,
  requirement: { contains: string | string[] } | { equals: string | number | boolean },
) => hasRequiredClaims({ claim }, [{ path: 'claim', ...requirement }]);

describe('required claims at lists of names', () => {
  const claims = { 'https://example.com/claims': { plan: ['pro'] }, 'a.b': 'x', a: { b: 'y' } };
  const at = (path: RequiredClaim['path'], contains: string) => hasRequiredClaims(claims, [{ path, contains }]);

  it('the name of a claim is a URL → found by a list; not found by a dotted text', () => {
    expect(at(['https://example.com/claims', 'plan'], 'pro')).toBe(true);
    expect(at('https://example.com/claims.plan', 'pro')).toBe(false);
    expect(hasRequiredClaims(claims, [{ path: ['a.b'], equals: 'x' }])).toBe(true);
  });

  it('a list and a text that look alike → each finds its own claim, in one check', () => {
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
  ])('contains: %j contains %j → met', (claim, contains) => expect(matches(claim, { contains })).toBe(true));

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
  ])('contains: %j does not contain %j → not met', (claim, contains) =>
    expect(matches(claim, { contains })).toBe(false),
  );

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

  it('a thousand requirements on one long claim → checked quickly', () => {
    const claim = 'w '.repeat(12_000);
    const required = Array.from({ length: 1_000 }, () => ({ path: 'claim', contains: 'w' }));
    expect(fastestMs(() => expect(hasRequiredClaims({ claim }, required)).toBe(true))).toBeLessThan(50);
  });
});
