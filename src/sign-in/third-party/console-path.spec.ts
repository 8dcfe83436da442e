import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { CONSOLE_PATH, withError } from './console-path.js';

const CONSOLE = 'https://console.example.com';

describe('where a sign-in may lead', () => {
  it.each([
    '/',
    '/apps',
    '/apps/',
    '/apps/my-app/overview?tab=1#top',
    '/oauth/consent?id=a:b#proof',
    '/login?next=//evil.example/',
    '/cli/approve/op:0a#Abc_-',
    '/...',
  ])('%s → allowed', (path) => expect(CONSOLE_PATH.test(path)).toBe(true));

  it.each([
    '',
    'apps',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/apps//x',
    '/.//evil.example',
    '/./x',
    '/..',
    '/a/../x',
    '/a/..?x',
    '/apps?a=\\x',
    '/apps\n',
    '/äpfel',
    'https://console.example.com/apps',
    'https://evil.example/',
    'javascript:alert(1)',
    '@evil.example',
  ])('%j → refused', (path) => expect(CONSOLE_PATH.test(path)).toBe(false));

  it('any allowed path → a browser stays on our origin, at exactly that path', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '@',
      ':',
      '?',
      '#',
      '%2f',
      'a',
      'evil.example',
      '\t',
      ' ',
      'https:',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join('')}`;
        if (!CONSOLE_PATH.test(path)) return;
        const url = new URL(path, CONSOLE);
        expect(url.origin).toBe(CONSOLE);
        expect(url.pathname).toBe(path.split(/[?#]/)[0]);
        expect(url.pathname.startsWith('//')).toBe(false);
      }),
      { numRuns: fuzzRuns(5_000) },
    );
  });

  it.each([
    ['/login', '/login?error=access_denied'],
    ['/login?from=/apps&error=old#x', '/login?from=%2Fapps&error=access_denied#x'],
  ])('%s with an error → %s', (path, expected) => expect(withError(path, 'access_denied')).toBe(expected));
});
