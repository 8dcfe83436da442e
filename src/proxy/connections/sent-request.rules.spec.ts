import { describe, expect, it } from '@jest/globals';
import { requestHead, type SentRequest } from './sent-request.rules.js';

const REQUEST: SentRequest = {
  method: 'POST',
  path: '/v1/a?b=c',
  headers: ['x-a', '1'],
  body: Buffer.from('12345'),
  ttfbTimeoutMs: 0,
};

function headOf(changes: Partial<SentRequest>): string {
  return requestHead({ ...REQUEST, ...changes }, 'api.example.com:8443');
}

describe('the head of a request', () => {
  it('host, connection, headers as given, and the length of the body', () => {
    expect(headOf({})).toBe(
      'POST /v1/a?b=c HTTP/1.1\r\nhost: api.example.com:8443\r\nconnection: keep-alive\r\nx-a: 1\r\ncontent-length: 5\r\n\r\n',
    );
  });

  it.each<[string, Partial<SentRequest>, string | undefined]>([
    ['body in pieces', { body: [Buffer.from('12'), Buffer.from('345'), Buffer.alloc(0)] }, '5'],
    ['empty body', { body: Buffer.alloc(0) }, '0'],
    ['POST without a body', { body: undefined }, '0'],
    ['GET without a body', { method: 'GET', body: undefined }, undefined],
    ['DELETE without a body', { method: 'DELETE', body: undefined }, undefined],
    ['DELETE with a body', { method: 'DELETE' }, '5'],
  ])('%s → content-length %j', (_name, changes, length) => {
    expect(/\r\ncontent-length: (\d+)\r\n/.exec(headOf(changes))?.[1]).toBe(length);
  });

  it.each<[string, Partial<SentRequest>]>([
    ['line end in a value', { headers: ['x-a', '1\r\nx-b: 2'] }],
    ['line feed in a value', { headers: ['x-a', '1\nx-b: 2'] }],
    ['line end in a name', { headers: ['x-a: 1\r\nx-b', '2'] }],
    ['NUL in a value', { headers: ['x-a', '\x00'] }],
    ['character beyond latin1', { headers: ['x-a', '\u0100'] }],
    ['line end in the path', { path: '/a\r\nx-b: 2' }],
    ['blank in the path', { path: '/a HTTP/1.1' }],
    ['character beyond latin1 in the path', { path: '/\u0100' }],
  ])('%s → refused', (_name, changes) => {
    expect(() => headOf(changes)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('upper half of latin1 and tabs in a value → unchanged', () => {
    expect(headOf({ headers: ['x-a', 'caf\xe9\tb'] })).toContain('x-a: caf\xe9\tb\r\n');
  });
});
