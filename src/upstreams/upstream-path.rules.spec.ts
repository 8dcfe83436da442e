import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSafeUpstreamPath } from './path-policy.rules.js';

describe('isSafeUpstreamPath', () => {
  it.each([
    'v1/responses',
    'v1/models/g-1.5:generateContent',
    'v1/a..b/.well-known',
    'v1/a%20b',
    'v1/...',
    'v1/x/',
    '%zz',
  ])('%s → safe', (path) => {
    expect(isSafeUpstreamPath(path)).toBe(true);
  });

  it.each([
    ['empty', ''],
    ['a leading slash', '/v1'],
    ['an empty segment', 'v1//x'],
    ['a dot', 'v1/./x'],
    ['two dots', 'v1/../x'],
    ['two dots at the end', 'v1/..'],
    ['two dots alone', '..'],
    ['escaped dots', 'v1/%2e%2E/x'],
    ['half escaped dots', '.%2e/x'],
    ['doubly escaped dots', 'v1/%252e%252e/x'],
    ['dots before a parameter', 'v1/..;a=b/x'],
    ['dots before an escaped parameter', 'v1/%2e.%3Bx/y'],
    ['an escaped slash', 'v1%2Fx'],
    ['an escaped backslash', 'v1%5cx'],
    ['a backslash', 'v1\\..\\x'],
    ['a query', 'v1?x'],
    ['a fragment', 'v1#x'],
    ['a space', 'v1 x'],
    ['a line end', 'v1\r\nx'],
    ['an escaped NUL', 'v1%00'],
    ['an escaped line feed', 'v1%0Ax'],
    ['a letter beyond ASCII', 'v1/é'],
    ['a full-width dot', 'v1/．．/x'],
  ])('%s → refused', (_what, path) => {
    expect(isSafeUpstreamPath(path)).toBe(false);
  });

  it('any safe path → a URL parser keeps it under the base', () => {
    const base = 'https://api.test/base/';
    const piece = fc.constantFrom('a', '/', '.', '..', '%2e', '%2f', '%25', '\\', ';', '%3b', ':', '@', '?', '\t');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = pieces.join('');
        if (isSafeUpstreamPath(path)) expect(new URL(base + path).href).toBe(base + path);
      }),
    );
  });
});
