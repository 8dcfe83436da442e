import { describe, expect, it } from '@jest/globals';
import { type FirstPartyRequest, requireFirstParty } from './csrf-origins.js';

const PROGRAM: FirstPartyRequest = {
  method: 'POST',
  requiresOrigin: false,
  origin: undefined,
  isOwnOrigin: false,
  fetchSite: undefined,
  hasSessionCookie: false,
  hasConsoleHeader: false,
};

describe('requireFirstParty', () => {
  it.each<[string, Partial<FirstPartyRequest>, boolean]>([
    ['a program without cookies', {}, true],
    ['the console itself', { origin: 'https://own', isOwnOrigin: true, hasSessionCookie: true }, true],
    ['another site', { origin: 'https://other' }, false],
    ['another site, reading', { method: 'GET', origin: 'https://other' }, false],
    ['another site with the header that only we can send', { origin: 'https://other', hasConsoleHeader: true }, false],
    ['a sandboxed page', { origin: 'null' }, false],
    ['a cookie without an origin', { hasSessionCookie: true }, false],
    [
      'a cookie without an origin but with the console header',
      { hasSessionCookie: true, hasConsoleHeader: true },
      true,
    ],
    ['a browser that says another site began it', { fetchSite: 'cross-site' }, false],
    ['a browser that says a sibling began it', { fetchSite: 'same-site', hasConsoleHeader: true }, false],
    ['a browser that says the person began it', { fetchSite: 'none' }, true],
    ['a route that demands an origin, without one', { requiresOrigin: true, hasConsoleHeader: true }, false],
    ['a route that demands an origin, another site', { requiresOrigin: true, origin: 'https://other' }, false],
    ['a route that demands an origin, a sandboxed page', { requiresOrigin: true, origin: 'null' }, false],
    [
      'a route that demands an origin, our own',
      { requiresOrigin: true, origin: 'https://own', isOwnOrigin: true },
      true,
    ],
    ['a head alone', { method: 'HEAD', hasSessionCookie: true }, true],
    ['a navigation', { method: 'GET', fetchSite: 'cross-site', hasSessionCookie: true }, true],
  ])('%s → allowed: %3$s', (_, changes, passes) => {
    const ask = () => requireFirstParty({ ...PROGRAM, ...changes });
    if (passes) expect(ask).not.toThrow();
    else expect(ask).toThrow(expect.objectContaining({ code: 'forbidden', reason: 'foreign_origin' }));
  });

  it('an origin that could break the line it is printed in → is not repeated', () => {
    const ask = () => requireFirstParty({ ...PROGRAM, origin: 'https://a b\u0000' });
    expect(ask).toThrow('The origin that was sent is not');
  });
});
