import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ownPath } from './own-path.rules.js';

describe('where to go after signing in', () => {
  it.each([
    ['/apps/a/usage?days=30', '/apps/a/usage?days=30'],
    [null, '/'],
    ['', '/'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
  ])('%j → %s', (sent, path) => expect(ownPath(sent)).toBe(path));

  it('any text → a path on this origin', () => {
    const piece = fc.constantFrom('/', '\\', '//', 'evil.example', ':', '@', '\t', '\n', 'http', '%2f', '.', ' ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        expect(new URL(ownPath(pieces.join('')), 'https://own.example').origin).toBe('https://own.example');
      }),
      { numRuns: 20_000 },
    );
  });
});
