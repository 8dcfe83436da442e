import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parseEgressProxy, parseNoProxy, proxyFor } from './egress-proxy.rules.js';

const SECURE = parseEgressProxy('http://secure.proxy:3128');
const PLAIN = parseEgressProxy('http://plain.proxy:3128');

function wayOf(url: string, noProxy = ''): string {
  const { protocol, hostname, port } = new URL(url);
  const settings = { HTTPS_PROXY: SECURE, HTTP_PROXY: PLAIN, NO_PROXY: parseNoProxy(noProxy) };
  return proxyFor(settings, { protocol, hostname, port })?.host ?? 'direct';
}

describe('proxy of an outbound call', () => {
  it.each([
    ['https://api.example.com/', 'secure.proxy'],
    ['https://api.example.com:8443/', 'secure.proxy'],
    ['http://models.internal/', 'plain.proxy'],
    ['https://10.1.2.3/', 'secure.proxy'],
    ['https://[2001:db8::1]/', 'secure.proxy'],
    ['http://localhost:11434/', 'direct'],
    ['http://localhost.:11434/', 'direct'],
    ['https://models.localhost/', 'direct'],
    ['http://127.0.0.1:11434/', 'direct'],
    ['http://127.8.9.10/', 'direct'],
    ['https://[::1]:8443/', 'direct'],
    ['https://[::ffff:127.0.0.1]/', 'direct'],
    ['http://0.0.0.0/', 'direct'],
    ['https://localhost.example.com/', 'secure.proxy'],
  ])('%s → %s: the scheme decides, and the loopback is dialled directly', (url, way) => {
    expect(wayOf(url)).toBe(way);
  });

  it('one variable set → only its scheme uses a proxy', () => {
    const direct = parseNoProxy('');
    const target = { hostname: 'api.example.com', port: '' };
    const onlySecure = { HTTPS_PROXY: SECURE, HTTP_PROXY: undefined, NO_PROXY: direct };
    expect(proxyFor(onlySecure, { ...target, protocol: 'https:' })).toBe(SECURE);
    expect(proxyFor(onlySecure, { ...target, protocol: 'http:' })).toBeUndefined();
  });

  it.each([
    ['*', 'https://api.example.com/', 'direct'],
    ['other.example, *', 'https://api.example.com/', 'direct'],
    ['example.com', 'https://example.com/', 'direct'],
    ['example.com', 'https://api.example.com/', 'direct'],
    ['.example.com', 'https://api.example.com/', 'direct'],
    ['.example.com', 'https://example.com/', 'direct'],
    ['*.example.com', 'https://api.example.com/', 'direct'],
    ['EXAMPLE.com', 'https://api.example.com./', 'direct'],
    ['example.com.', 'https://api.example.com/', 'direct'],
    ['example.com', 'https://notexample.com/', 'secure.proxy'],
    ['example.com', 'https://example.com.evil.org/', 'secure.proxy'],
    ['api.example.com:443', 'https://api.example.com/', 'direct'],
    ['api.example.com:443', 'https://api.example.com:8443/', 'secure.proxy'],
    ['api.example.com:80', 'https://api.example.com/', 'secure.proxy'],
    ['example.com:8443', 'https://api.example.com:8443/', 'direct'],
    ['10.0.0.0/8', 'https://10.1.2.3/', 'direct'],
    ['10.0.0.0/8', 'https://11.1.2.3/', 'secure.proxy'],
    ['10.0.0.0/8', 'https://ten.example.com/', 'secure.proxy'],
    ['10.1.2.3', 'https://10.1.2.3:8443/', 'direct'],
    ['10.1.2.3:8443', 'https://10.1.2.3/', 'secure.proxy'],
    ['2001:db8::/32', 'https://[2001:db8::1]/', 'direct'],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]/', 'direct'],
    ['a.example b.example,c.example', 'https://b.example/', 'direct'],
    ['', 'https://api.example.com/', 'secure.proxy'],
  ])('NO_PROXY=%s, %s → %s', (noProxy, url, way) => {
    expect(wayOf(url, noProxy)).toBe(way);
  });

  it.each(['10.0.0.0/99', 'https://example.com', 'exa mple!.com', 'example.com:99999'])(
    'NO_PROXY=%s → refused without repeating its text',
    (text) => {
      expect(() => parseNoProxy(text)).toThrow(/^must be/);
    },
  );
});

describe('address of a proxy', () => {
  it.each([
    ['http://proxy.example:3128', { isTls: false, host: 'proxy.example', port: 3128 }],
    ['http://proxy.example:3128/', { isTls: false, host: 'proxy.example', port: 3128 }],
    [' http://10.0.0.1:8080 ', { isTls: false, host: '10.0.0.1', port: 8080 }],
    ['https://proxy.example', { isTls: true, host: 'proxy.example', port: 443 }],
    ['http://[2001:db8::1]:3128', { isTls: false, host: '2001:db8::1', port: 3128 }],
  ])('%s → accepted, shown without credentials', (text, expected) => {
    expect(parseEgressProxy(text)).toEqual({ ...expected, authorization: undefined });
  });

  it('user and password → Basic credentials, percent-decoded, that are never printed', () => {
    const proxy = parseEgressProxy('http://op%40corp:p%3Ass@proxy.example:3128');
    const encoded = Buffer.from('op@corp:p:ss').toString('base64');
    expect(proxy.authorization?.reveal()).toBe(`Basic ${encoded}`);
    for (const printed of [inspect(proxy, { depth: 5 }), JSON.stringify(proxy)]) {
      expect(printed).not.toMatch(/op@corp|p:ss|p%3Ass/);
      expect(printed).not.toContain(encoded);
    }
  });

  it.each([
    'proxy.example:3128',
    'socks5://proxy.example:1080',
    'http://',
    'http://proxy.example/path',
    'http://proxy.example?x',
    'http://user:%zz@proxy.example:3128',
  ])('%s → refused without repeating its text', (text) => {
    expect(() => parseEgressProxy(text)).toThrow(/^must be (?!.*example:|.*zz)/);
  });
});
