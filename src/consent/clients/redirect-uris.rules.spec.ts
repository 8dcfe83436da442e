import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isRedirectUri, matchesRedirectUri, redirectHost } from './redirect-uris.rules.js';

describe('isRedirectUri', () => {
  it.each([
    'https://client.example.com/callback',
    'https://client.example.com',
    'https://client.example.com:8443/back?from=gateway',
    'http://127.0.0.1/callback',
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1:65535/callback',
    'http://localhost/callback',
    'http://localhost:49152',
    'http://[::1]:49152/callback?a=b',
    'com.example.client:/callback',
    'com.example.client:/',
    'com.example.client:/a//b',
  ])('%s → accepted', (uri) => {
    expect(isRedirectUri(uri)).toBe(true);
  });

  it.each([
    ['another host behind a user', 'http://127.0.0.1@evil.example/callback'],
    ['a user', 'https://user@client.example.com/callback'],
    ['a user and a password', 'https://user:password@client.example.com/callback'],
    ['port 0', 'http://127.0.0.1:0/callback'],
    ['a port with a leading zero', 'http://127.0.0.1:080/callback'],
    ['a port beyond all', 'http://127.0.0.1:65536/callback'],
    ['port 0 of https', 'https://client.example.com:0/callback'],
    ['a default port that parsers drop', 'https://client.example.com:443/callback'],
    ['a scheme in capitals', 'HTTP://127.0.0.1/callback'],
    ['a host in capitals', 'https://Client.Example.com/callback'],
    ['localhost in capitals', 'http://LOCALHOST/callback'],
    ['the long form of ::1', 'http://[0:0:0:0:0:0:0:1]/callback'],
    ['IPv4 in IPv6', 'http://[::ffff:127.0.0.1]/callback'],
    ['another loopback address', 'http://127.0.0.2/callback'],
    ['a name that begins like loopback', 'http://127.0.0.1.evil.example/callback'],
    ['a name that begins like localhost', 'http://localhost.evil.example/callback'],
    ['a decimal address', 'http://2130706433/callback'],
    ['a hexadecimal address', 'https://0x7f000001/callback'],
    ['an octal address', 'https://0177.0.0.1/callback'],
    ['an address of https', 'https://192.0.2.1/callback'],
    ['a trailing dot', 'https://client.example.com./callback'],
    ['plain http elsewhere', 'http://client.example.com/callback'],
    ['a backslash', 'https://client.example.com\\@evil.example/'],
    ['a tab', 'https://client.example.com/\tcallback'],
    ['a blank', 'https://client.example.com/call back'],
    ['a line end', 'https://client.example.com/\ncallback'],
    ['a fragment', 'https://client.example.com/callback#fragment'],
    ['an empty fragment', 'https://client.example.com/callback#'],
    ['dots that parsers remove', 'https://client.example.com/a/../callback'],
    ['encoded dots', 'https://client.example.com/a/%2e%2e/callback'],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,hello'],
    ['a file', 'file:///etc/passwd'],
    ['a private scheme without a dot', 'client:/callback'],
    ['a private scheme with a host that is none', 'com.example.client://:'],
    ['a private scheme with a host', 'com.example.client://callback'],
    ['a private scheme with a host that looks like another one', 'com.example.client://bank.example/callback'],
    ['a private scheme with an empty host', 'com.example.client:///callback'],
    ['a private scheme with a user', 'com.example.client://user@host/callback'],
    ['no scheme', '//client.example.com/callback'],
    ['letters beyond ASCII', 'https://clïent.example.com/callback'],
    ['nothing', ''],
    ['more than 2048 characters', `https://client.example.com/${'a'.repeat(2_048)}`],
  ])('%s → refused', (_name, uri) => {
    expect(isRedirectUri(uri)).toBe(false);
  });

  it('any text → accepted or refused; an accepted URI has one host and no user', () => {
    const piece = fc.constantFrom(
      'http://',
      'https://',
      '127.0.0.1',
      '[::1]',
      'localhost',
      '@',
      ':',
      '80',
      '/',
      '\\',
      '%',
      '#',
      '?',
      '.',
      'a',
    );
    const uri = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(uri, (text) => {
        if (!isRedirectUri(text)) return;
        const url = new URL(text);
        expect([url.username, url.password, url.hash]).toEqual(['', '', '']);
        expect(matchesRedirectUri(text, text)).toBe(true);
        expect(redirectHost(text)).not.toBe('');
      }),
    );
  });
});

describe('matchesRedirectUri', () => {
  it.each([
    ['the port of a listener', 'http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback'],
    ['another port', 'http://localhost:3000/callback', 'http://localhost:49152/callback'],
    ['no port', 'http://[::1]:3000/callback', 'http://[::1]/callback'],
  ])('%s differs → matches', (_name, declared, sent) => {
    expect(matchesRedirectUri(declared, sent)).toBe(true);
  });

  it.each([
    ['the port of a page', 'https://client.example.com/callback', 'https://client.example.com:8443/callback'],
    ['the path', 'http://127.0.0.1/callback', 'http://127.0.0.1:1/callback/'],
    ['the query', 'http://127.0.0.1/callback', 'http://127.0.0.1/callback?a=b'],
    ['the spelling of loopback', 'http://127.0.0.1/callback', 'http://localhost/callback'],
    ['the family', 'http://[::1]/callback', 'http://127.0.0.1/callback'],
    ['a user', 'http://127.0.0.1/callback', 'http://127.0.0.1@evil.example/callback'],
    ['case', 'com.example.client:/callback', 'com.example.client:/Callback'],
  ])('%s differs → does not match', (_name, declared, sent) => {
    expect(matchesRedirectUri(declared, sent)).toBe(false);
  });
});

it.each([
  ['https://client.example.com:8443/callback', 'client.example.com:8443'],
  ['http://127.0.0.1:49152/callback', '127.0.0.1:49152'],
  ['com.example.client:/callback', 'com.example.client'],
  ['com.example.client://bank.example/callback', 'com.example.client'],
])('%s → shown to a person as %s', (uri, shown) => {
  expect(redirectHost(uri)).toBe(shown);
});
