import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSafeUpstreamPath } from '../../upstreams/path-policy.rules.js';
import { configOf, gatewayInUse, PATH_SEGMENT_PATTERN } from './provider-gateway-write.rules.js';

describe('PATH_SEGMENT_PATTERN', () => {
  it.each(['a', '0', '-', '...', '.hidden', 'a..b', '0123456789abcdef'.repeat(2), 'My_gateway-2.x~', 'a'.repeat(100)])(
    'segment: %j → accepted',
    (text) => expect(text).toMatch(PATH_SEGMENT_PATTERN),
  );

  it.each([
    ...[
      '',
      '.',
      '..',
      'a/b',
      '/',
      '../x',
      'a\\b',
      '%2e',
      '%2F',
      'a%20b',
      '..;',
      ';',
      'a?b',
      'a#b',
      'a b',
      'a\n',
      '\n.',
    ],
    ...['.\n', 'a\u0000', 'é', '\u2024\u2024', '\uff0f', '\ud800', 'a:b', 'a@b', 'a'.repeat(101)],
  ])('segment: %j → refused', (text) => expect(text).not.toMatch(PATH_SEGMENT_PATTERN));

  it('segment: whatever is accepted → one segment that no encoding changes', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'aZ09._~-%/\\?#;: @é\n'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(PATH_SEGMENT_PATTERN.test(text));
        expect(encodeURIComponent(text)).toBe(text);
        expect(isSafeUpstreamPath(`${text}/openai/models`)).toBe(true);
        expect(new URL(`https://gateway.example.com/v1/${text}/x/`).pathname).toBe(`/v1/${text}/x/`);
      }),
    );
  });
});

describe('configOf', () => {
  it('address: of each kind → exactly its own members', () => {
    expect(configOf({ type: 'cf_aig', accountId: 'a', gatewayId: 'g' })).toEqual({ accountId: 'a', gatewayId: 'g' });
    expect(configOf({ type: 'vercel' })).toEqual({});
    expect(Object.keys(configOf({ type: 'vercel' }))).toEqual([]);
  });
});

describe('gatewayInUse', () => {
  it.each([
    [1, 0, '1 active provider is routed through this gateway; delete it first.'],
    [2, 0, '2 active providers are routed through this gateway; delete them first.'],
    [1, 2, '1 active and 2 disabled providers are routed through this gateway; delete all of them first.'],
    [
      0,
      1,
      '1 disabled provider is still routed through this gateway; delete it first: a disabled provider can be enabled again.',
    ],
    [
      0,
      3,
      '3 disabled providers are still routed through this gateway; delete them first: a disabled provider can be enabled again.',
    ],
    [0, 0, 'Providers are routed through this gateway.'],
  ] as const)('%i active and %i disabled → its own message with the counts', (active, disabled, message) => {
    expect(gatewayInUse({ active, disabled })).toMatchObject({ code: 'gateway_in_use', status: 409, message });
  });
});
