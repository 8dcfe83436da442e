import { describe, expect, it } from '@jest/globals';
import { isLoopbackHost, signUpAccessOf, startBanner } from './start-banner.rules.js';

const URL = 'http://127.0.0.1:8080';
const KEY = /start it once with a management key/;
const FIRST = /The first person who does gets an organization, and closes registration/;
const ANYBODY = /Anyone who can reach the gateway may register/;
const CONSOLE = 'https://gateway.example.com';
const SIGN_UP = `${CONSOLE}/signup`;

describe('startBanner', () => {
  it.each([
    ['nothing is there', false, 'first person', { key: true, first: true, anybody: false }],
    ['nothing is there, open to all', false, 'anybody', { key: true, first: false, anybody: true }],
    ['an account, nobody registered', true, 'first person', { key: false, first: true, anybody: false }],
    ['people, registration closed', true, 'closed', { key: false, first: false, anybody: false }],
    ['people, registration open to all', true, 'anybody', { key: false, first: false, anybody: true }],
    ['a person whose organization is gone', false, 'closed', { key: true, first: false, anybody: false }],
  ] as const)('%s → every open way to sign in, and no other', (_name, hasAccount, signUpAccess, ways) => {
    const service = { consoleUrl: CONSOLE, url: URL, hasAccount, signUpAccess };
    const banner = startBanner({ ...service, isPublicUrlMissing: false });
    expect({ key: KEY.test(banner), first: FIRST.test(banner), anybody: ANYBODY.test(banner) }).toEqual(ways);
    expect(banner.includes(SIGN_UP)).toBe(ways.first || ways.anybody);
    expect(banner.includes('as the bootstrap key')).toBe(hasAccount && ways.first);
    expect(banner).toContain(`Console      ${CONSOLE}\n`);
    expect(banner).toContain(`API          ${URL}\n`);
  });
});

describe('a missing PUBLIC_URL', () => {
  it.each([true, false])('%p → the banner names it', (isPublicUrlMissing) => {
    const service = { consoleUrl: URL, url: URL, hasAccount: true, signUpAccess: 'closed' } as const;
    expect(startBanner({ ...service, isPublicUrlMissing }).includes('PUBLIC_URL is not set')).toBe(isPublicUrlMissing);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.5', false],
    ['127.example.com', false],
  ])('HOST %s → only from this machine: %p', (host, isLoopback) => {
    expect(isLoopbackHost(host)).toBe(isLoopback);
  });
});

describe('registrationOf', () => {
  it.each([
    ['nobody has registered', true, false, 'first person'],
    ['somebody has', false, false, 'closed'],
    ['the setting opens it', true, true, 'anybody'],
  ] as const)('%s → %4$s', (_name, isOpen, isOpenToAll, expected) => {
    expect(signUpAccessOf(isOpen, isOpenToAll)).toBe(expected);
  });
});
