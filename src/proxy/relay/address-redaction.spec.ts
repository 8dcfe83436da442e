import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { AddressRedaction } from './address-redaction.js';

const OWN = [
  'https://api.provider.com/v1/',
  'https://gateway.company.com:8443/acc/main/',
  'http://[2606:4700::1111]:80/',
];
const redaction = new AddressRedaction(OWN, parseTrustedHosts('llm.company.com, models.company.com:8080, 9.9.9.0/24'));
const allows = (name: string, value: string) => redaction.allows(name, value, redaction.suspects(value));

describe('a reference in an answer', () => {
  it.each([
    'https://docs.elsewhere.com/page?a=1#b',
    'http://elsewhere.com',
    'HTTPS://Elsewhere.COM:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::64]/',
    'https://files.api.provider.com/file',
    'https://elsewhere.com/@user?at=@',
    'https://elsewhere.example/',
  ])('%s → kept', (value) => {
    expect(['location', 'content-location', 'x-next-url'].map((name) => allows(name, value))).toEqual([
      true,
      true,
      true,
    ]);
    expect(allows('link', `<${value}>; rel="next", <https://elsewhere.com>`)).toBe(true);
  });

  it.each([
    ['', '/v1/responses', 'v1/responses', '?page=2', '#top', '../up', '//elsewhere.com/', '\\\\elsewhere.com\\x'],
    ['ftp://elsewhere.com/', 'javascript:alert(1)', 'data:,x', 'file:///etc/passwd', 'ws://elsewhere.com'],
    ['https:elsewhere.com', 'https:/elsewhere.com', 'https:///elsewhere.com', 'https:\\\\elsewhere.com', 'https://'],
    ['https://user@elsewhere.com/', 'https://user:key@elsewhere.com/', 'https://api.provider.com@elsewhere.com/'],
    ['https://elsewhere.com/a b', 'https://else\twhere.com/', 'https://elsewhere.com/é', 'https://els%65where.com/'],
    [
      'https://api.provider.com/x',
      'HTTPS://API.Provider.Com',
      'https://api.provider.com./',
      'http://api.provider.com:80',
    ],
    ['https://api.provider.com:8443/', 'https://api.provider.com:443/', 'https://gateway.company.com/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700:0:0::1111]/', 'https://llm.company.com/'],
    ['http://models.company.com:8080/', 'https://9.9.9.9/'],
    ['http://localhost/', 'http://a.localhost:3000/', 'http://backend/', 'http://backend:8080/', 'http://db.internal/'],
    [
      'http://a.local',
      'http://a.svc.cluster.local./',
      'http://metadata.google.internal/',
      'http://1.0.0.127.in-addr.arpa',
    ],
    [
      'http://127.0.0.1/',
      'http://127.1/',
      'http://2130706433/',
      'http://0x7f.0.0.1/',
      'http://0177.0.0.1/',
      'http://0/',
    ],
    ['http://10.0.0.1/', 'http://192.168.1.1', 'http://172.16.0.1', 'http://169.254.169.254/', 'http://100.64.0.1/'],
    [
      'http://127.0.0.1./',
      'http://[::1]/',
      'http://[::ffff:10.0.0.1]/',
      'http://[fd00:ec2::254]/',
      'http://[fe80::1]/',
    ],
    ['http://[64:ff9b::a00:1]/', 'http://[2002:a00:1::]/', 'http://[::]/', 'http://１２７.0.0.1/'],
  ])('%j and similar → removed', (...values) => {
    for (const value of values) {
      expect([value, allows('location', value)]).toEqual([value, false]);
      expect([value, allows('x-upload-uri', value)]).toEqual([value, false]);
      expect([value, allows('link', `<https://elsewhere.com>, <${value}>; rel=next`)]).toEqual([value, false]);
    }
  });
});

describe('an address in any other header', () => {
  it.each([
    '10.0.0.7:8080',
    'upstream=192.168.0.1, pool=2',
    '1.1 edge-7.corp.internal (proxy)',
    'backend.default.svc.cluster.local',
    'localhost:11434',
    'h2="api.provider.com:443"',
    'GATEWAY.company.com',
    'see http://2130706433/x',
    'tried https://llm.company.com/v1, gave up',
    '[fd12:3456::1]:443',
    'for=::1',
    '{"url":"http://10.0.0.1/"}',
    '2606:4700::1111',
  ])('%s → removed', (value) => {
    expect(allows('x-any', value)).toBe(false);
  });

  it.each([
    'private, max-age=0',
    'Thu, 01 Jan 2026 00:00:00 GMT',
    'application/json; charset=utf-8',
    'https://status.elsewhere.com/incident?id=1',
    'req_0123456789abcdef',
    '8.8.8.8',
    '1.2.3',
    'v1.23.456-local',
    'gpt-4.1-2025-04-14',
    '6m0s',
    'home, sweet home',
    "default-src 'none'; report-uri https://csp.elsewhere.com",
    'aa:bb:cc:dd:ee:ff',
    '',
  ])('%s → kept', (value) => {
    expect(allows('x-any', value)).toBe(true);
  });

  it.each([
    'a'.repeat(64_000),
    'a:'.repeat(32_000),
    '1.'.repeat(32_000),
    `${'f'.repeat(32_000)}::${'f'.repeat(32_000)}`,
  ])('a hostile value of 64 KB → checked within 50 ms', (value) => {
    const run = () => {
      for (const name of ['x-any', 'link', 'location']) allows(name, `${value} http:// .local ${value}`);
    };
    expect(fastestMs(run)).toBeLessThan(50);
  });
});

describe('a value in a text that is searched as a whole', () => {
  it.each([
    ['x-any', 'req_1', true],
    ['x-any', '10.0.0.7:8080', false],
    ['location', 'https://elsewhere.com/', true],
    ['link', '<https://elsewhere.com/>', true],
  ])('text with an address elsewhere; %s: %s → %j, judged by its own value', (name, value, expected) => {
    const text = `x-other: 10.0.0.8\r\n${name}: ${value}`;
    expect(redaction.suspects(text)).toBe(true);
    expect(redaction.allows(name, value, true)).toBe(expected);
  });

  it.each([
    ['location', '/v1/responses'],
    ['x-upload-uri', 'http:backend'],
    ['link', '</v1/models?page=2>; rel=next'],
  ])('%s: %s → removed, even if the text shows no address', (name, value) => {
    expect(redaction.suspects(`${name}: ${value}`)).toBe(false);
    expect(redaction.allows(name, value, false)).toBe(false);
  });

  it('any IP address, anywhere in a text → suspect', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(fc.string(), address, fc.string(), (before, ip, after) => {
        expect(redaction.suspects(before + ip + after)).toBe(true);
      }),
    );
  });

  it('the head of a typical answer → not suspect', () => {
    const head = [
      'HTTP/1.1 200 OK',
      'date: Thu, 26 Nov 2026 18:33:28 GMT',
      'openai-version: 2020-10-01',
      'x-ratelimit-reset-requests: 8.64s',
      'x-request-id: req_0123456789abcdef0123456789abcdef',
      'alt-svc: h3=":443"; ma=86400',
    ];
    expect(redaction.suspects(head.join('\r\n'))).toBe(false);
  });

  it('a suspect value → makes every text that contains it suspect', () => {
    for (const value of ['10.0.0.7', 'for=::1', 'GATEWAY.company.com', 'db.internal', 'http://a']) {
      expect(redaction.suspects(`HTTP/1.1 200 OK\r\nx-a: b\r\nx-any:${value}\r\nx-c: d`)).toBe(true);
    }
  });
});
