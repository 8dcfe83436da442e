import { describe, expect, it } from '@jest/globals';
import { type RequestHead, refuseFragment, refuseRepeatedHeaders, requireOneMeaning } from './request-head.rules.js';

function checked(sent: Readonly<Record<string, string>>, httpVersion = '1.1'): () => void {
  const head: RequestHead = { headers: sent, rawHeaders: Object.entries(sent).flat(), httpVersion };
  return () => requireOneMeaning(head);
}

const HOST = { host: 'gateway.example.com:8080' };

describe('the head of a request', () => {
  it.each([
    ['no host', {}, 400, 'host_missing'],
    ['a host with a blank', { host: 'a b' }, 400, 'host_malformed'],
    ['a host with a path', { host: 'a/b' }, 400, 'host_malformed'],
    ['a host with a user', { host: 'a@b' }, 400, 'host_malformed'],
    ['a host with a query', { host: 'a?b' }, 400, 'host_malformed'],
    ['two codings', { ...HOST, 'transfer-encoding': 'gzip, chunked' }, 400, 'transfer_coding_unsupported'],
    ['chunks in chunks', { ...HOST, 'transfer-encoding': 'chunked, chunked' }, 400, 'transfer_coding_unsupported'],
    ['a coded body', { ...HOST, 'content-encoding': 'gzip' }, 415, 'content_coding_unsupported'],
    ['several codings', { ...HOST, 'content-encoding': 'identity, gzip' }, 415, 'content_coding_unsupported'],
    ['no coding twice', { ...HOST, 'content-encoding': 'identity, identity' }, 415, 'content_coding_unsupported'],
    ['an empty coding', { ...HOST, 'content-encoding': '' }, 415, 'content_coding_unsupported'],
    ['an expectation', { ...HOST, expect: 'tea' }, 417, 'expectation_unsupported'],
    ['an expectation more', { ...HOST, expect: '100-continue, tea' }, 417, 'expectation_unsupported'],
  ])('%s → refused', (_name, sent, status, reason) => {
    expect(checked(sent)).toThrow(expect.objectContaining({ code: 'invalid_request', status, reason }));
  });

  it.each([
    ['a name', HOST],
    ['an IPv6 address with a port', { host: '[::1]:8080' }],
    ['an empty host', { host: '' }],
    ['chunks', { ...HOST, 'transfer-encoding': 'Chunked' }],
    ['no coding', { ...HOST, 'content-encoding': 'Identity' }],
    ['the one expectation there is', { ...HOST, expect: '100-Continue' }],
  ])('%s → accepted', (_name, sent) => {
    expect(checked(sent)).not.toThrow();
  });

  it('HTTP/1.0 without a host → accepted, but not with an invalid one', () => {
    expect(checked({}, '1.0')).not.toThrow();
    expect(checked({ host: 'a b' }, '1.0')).toThrow(expect.objectContaining({ reason: 'host_malformed' }));
  });

  it.each(['0.9', '2.0', '3.0', '1.2'])('HTTP/%s → refused: not supported', (version) => {
    expect(checked(HOST, version)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, reason: 'http_version_unsupported' }),
    );
  });

  it('RFC 9112 6.1: a chunked HTTP/1.0 request → refused, and closed', () => {
    expect(checked({ ...HOST, 'transfer-encoding': 'chunked' }, '1.0')).toThrow(
      expect.objectContaining({ reason: 'transfer_coding_unsupported', headers: { connection: 'close' } }),
    );
  });

  it.each(['/v1/admin/apps#a', '/#', '/v1/admin/apps?a=b#c'])('RFC 9112 3.2: a fragment, %s → refused', (url) => {
    expect(() => refuseFragment(url)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, reason: 'fragment_sent' }),
    );
  });

  it('a repeated header → refused', () => {
    const head: RequestHead = { headers: HOST, rawHeaders: ['Host', 'a', 'host', 'b'], httpVersion: '1.1' };
    expect(() => requireOneMeaning(head)).toThrow(expect.objectContaining({ reason: 'header_repeated' }));
  });
});

const DECISIVE = [
  'Authorization',
  'Content-Length',
  'Content-Type',
  'Host',
  'Idempotency-Key',
  'Transfer-Encoding',
  'X-Api-Key',
  'X-App-Version',
  'X-Console-Request',
  'X-Goog-Api-Key',
  'X-Idempotency-Proof',
];

describe('repeated headers', () => {
  it.each(DECISIVE)('%s twice, in any case and with other headers between → refused by name', (name) => {
    const headers = [name, 'a', 'Accept', 'x', 'x-other', 'y', name.toUpperCase(), 'a'];
    const message = `${name.toLowerCase()}: header is sent more than once`;
    expect(() => refuseRepeatedHeaders(headers)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, reason: 'header_repeated', message }),
    );
  });

  it('every decisive header once → accepted', () => {
    expect(() => refuseRepeatedHeaders(DECISIVE.flatMap((name) => [name, 'a']))).not.toThrow();
  });

  it('headers that may repeat, some as long as the name of a decisive one → accepted', () => {
    const names = ['accept', 'cookie', 'x-forwarded-for', 'via', 'x-stainless-os', 'link'];
    expect(names.some((name) => DECISIVE.some((decisive) => decisive.length === name.length))).toBe(true);
    expect(() => refuseRepeatedHeaders(names.flatMap((name) => [name, '1', name, '2']))).not.toThrow();
  });

  it('a value that is named like a header → not mistaken for one', () => {
    expect(() => refuseRepeatedHeaders(['host', 'host', 'x-a', 'host'])).not.toThrow();
  });

  it('no headers → accepted', () => {
    expect(() => refuseRepeatedHeaders([])).not.toThrow();
  });
});
