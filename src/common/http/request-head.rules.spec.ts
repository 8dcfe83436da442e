import { describe, expect, it } from '@jest/globals';
import { type RequestHead, requireOneMeaning } from './request-head.rules.js';

function judged(sent: Readonly<Record<string, string>>, httpVersion = '1.1'): () => void {
  const head: RequestHead = { headers: sent, rawHeaders: Object.entries(sent).flat(), httpVersion };
  return () => requireOneMeaning(head);
}

const HOST = { host: 'gateway.example.com:8080' };

describe('the head of a request (threats 2.1)', () => {
  it.each([
    ['no host', {}, 400, 'host_missing'],
    ['a host with a blank', { host: 'a b' }, 400, 'host_malformed'],
    ['a host with a path', { host: 'a/b' }, 400, 'host_malformed'],
    ['a host with a user', { host: 'a@b' }, 400, 'host_malformed'],
    ['a host with a query', { host: 'a?b' }, 400, 'host_malformed'],
    ['two codings', { ...HOST, 'transfer-encoding': 'gzip, chunked' }, 400, 'transfer_coding_unsupported'],
    ['chunks in chunks', { ...HOST, 'transfer-encoding': 'chunked, chunked' }, 400, 'transfer_coding_unsupported'],
    ['an expectation', { ...HOST, expect: 'tea' }, 417, 'expectation_unsupported'],
    ['an expectation more', { ...HOST, expect: '100-continue, tea' }, 417, 'expectation_unsupported'],
  ])('%s → refused', (_name, sent, status, reason) => {
    expect(judged(sent)).toThrow(expect.objectContaining({ code: 'invalid_request', status, reason }));
  });

  it.each([
    ['a name', HOST],
    ['an IPv6 address with a port', { host: '[::1]:8080' }],
    ['an empty host', { host: '' }],
    ['chunks', { ...HOST, 'transfer-encoding': 'Chunked' }],
    ['the one expectation there is', { ...HOST, expect: '100-Continue' }],
  ])('%s → accepted', (_name, sent) => {
    expect(judged(sent)).not.toThrow();
  });

  it('HTTP/1.0 without a host → accepted, but not with one that is none', () => {
    expect(judged({}, '1.0')).not.toThrow();
    expect(judged({ host: 'a b' }, '1.0')).toThrow(expect.objectContaining({ reason: 'host_malformed' }));
  });

  it('a repeated header → refused', () => {
    const head: RequestHead = { headers: HOST, rawHeaders: ['Host', 'a', 'host', 'b'], httpVersion: '1.1' };
    expect(() => requireOneMeaning(head)).toThrow(expect.objectContaining({ reason: 'header_repeated' }));
  });
});
