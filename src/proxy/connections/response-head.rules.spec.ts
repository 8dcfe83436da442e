import { describe, expect, it } from '@jest/globals';
import { fastestMs } from '../../../test/support/fastest-ms.js';
import { BrokenConnection } from './broken-connection.js';
import { parseResponseHead, type ResponseHead, singleHeader } from './response-head.rules.js';

/** A head of these field lines. */
function parse(lines: readonly string[] = [], { status = 'HTTP/1.1 200 OK', method = 'POST' } = {}): ResponseHead {
  return parseResponseHead([status, ...lines].join('\r\n'), method);
}

function expectRefused(act: () => unknown): void {
  expect(act).toThrow(expect.objectContaining({ name: BrokenConnection.name, code: 'invalid_answer' }));
}

describe('status line', () => {
  it.each([
    ['HTTP/1.1 200 OK', 200, 'OK'],
    ['HTTP/1.1 200 ', 200, ''],
    ['HTTP/1.1 200', 200, ''],
    ['HTTP/1.0 404 Not Found', 404, 'Not Found'],
    ['HTTP/1.1 999 \t odd \xe9', 999, '\t odd \xe9'],
  ])('"%s" → %i and its text', (status, code, statusText) => {
    expect(parse([], { status })).toMatchObject({ status: code, statusText, headers: [] });
  });

  it.each([
    '',
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'http/1.1 200 OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 200 O\x00K',
    'HTTP/1.1 200 O\nK',
    'HTTP/1.1 200 O\rK',
    'ICY 200 OK',
  ])('%j → refused', (status) => expectRefused(() => parse([], { status })));
});

describe('fields', () => {
  it('names in lower case, values without outer blanks, in the order received', () => {
    const { headers } = parse(['X-One: a', 'x-two:\t b\t ', 'X-ONE:c', 'x-empty:', 'x-colon: a:b: c', 'x-latin: \xe9']);
    expect(headers).toEqual([
      ...['x-one', 'a', 'x-two', 'b', 'x-one', 'c'],
      ...['x-empty', '', 'x-colon', 'a:b: c', 'x-latin', '\xe9'],
    ]);
  });

  it.each([
    'no colon',
    ': no name',
    'blank before : colon',
    'blank-before : colon',
    ' folded: line',
    '\tfolded',
    'bad(name): a',
    'x-nul: a\x00b',
    'x-delete: a\x7fb',
    'x-cr: a\rb',
    'x-lf: a\nb',
    'x-wide: \u0100',
  ])('%j → refused', (line) => {
    expectRefused(() => parse([line]));
    expectRefused(() => parse(['x-before: a', line, 'x-after: b']));
  });

  it('head of 64 KB of fields that end in an invalid one → refused quickly', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `x-field-${at}: ${'v'.repeat(16)}`);
    const run = () => {
      expect(parse(lines).headers).toHaveLength(4_000);
      expectRefused(() => parse([...lines, 'x-last: \x00']));
      expectRefused(() => parse([`x-long: ${'v'.repeat(64_000)}\x00`]));
    };
    expect(fastestMs(run)).toBeLessThan(500);
  });

  it('the text of a head contains every value', () => {
    const { text, headers } = parse(['X-One: a', 'x-two: b']);
    for (const [at, value] of headers.entries()) if (at % 2 === 1) expect(text).toContain(value);
  });
});

describe('the value of a header', () => {
  it.each([
    [['x-a: 1'], '1'],
    [['x-a: 1', 'x-b: 2', 'X-A: 3'], '3'],
    [['x-a:'], ''],
    [['x-b: 1'], undefined],
  ])('%j → %j', (lines, expected) => {
    expect(singleHeader(parse(lines).headers, 'x-a')).toBe(expected);
  });

  it('value that equals a name → not mistaken for the name', () => {
    expect(singleHeader(parse(['x-b: x-a', 'x-c: 1']).headers, 'x-a')).toBeUndefined();
  });
});

describe('the body that follows', () => {
  it.each<[string[], ResponseHead['bodyLength']]>([
    [['Content-Length: 0'], 0],
    [['content-length: 12'], 12],
    [['content-length: 0012'], 12],
    [['content-length: 999999999999999'], 999_999_999_999_999],
    [['Transfer-Encoding: Chunked'], 'chunked'],
    [[], 'until_close'],
  ])('%j → %j', (lines, bodyLength) => expect(parse(lines).bodyLength).toBe(bodyLength));

  it.each([
    ['content-length: 1', 'transfer-encoding: chunked'],
    ['transfer-encoding: chunked', 'content-length: 1'],
    ['content-length: 1', 'content-length: 2'],
    ['content-length: 1', 'content-length: 1'],
    ['content-length: 1, 1'],
    ['content-length:'],
    ['content-length: +1'],
    ['content-length: -1'],
    ['content-length: 0x1'],
    ['content-length: 1.0'],
    ['content-length: 1e3'],
    ['content-length: 9999999999999999'],
    ['transfer-encoding: gzip, chunked'],
    ['transfer-encoding: chunked, gzip'],
    ['transfer-encoding: identity'],
    ['transfer-encoding: xchunked'],
    ['transfer-encoding:'],
    ['transfer-encoding: chunked', 'transfer-encoding: chunked'],
  ])('%j%j → refused', (...lines) => expectRefused(() => parse(lines)));

  it('tab after a transfer coding, which some parsers treat as part of it → refused', () => {
    for (const line of ['transfer-encoding: chunked\t', 'Transfer-Encoding:chunked \t']) {
      expectRefused(() => parse([line]));
      expectRefused(() => parse([line, 'x-a: 1']));
    }
    expect(parse(['transfer-encoding:\tchunked ']).bodyLength).toBe('chunked');
    expect(parse(['content-length: 5\t']).bodyLength).toBe(5);
  });

  it('a chunked body over HTTP/1.0 → refused', () => {
    expectRefused(() => parse(['transfer-encoding: chunked'], { status: 'HTTP/1.0 200 OK' }));
  });

  it.each(['100 Continue', '103 Early Hints', '204 No Content', '304 Not Modified'])('%s → none', (status) => {
    expect(parse(['content-length: 5'], { status: `HTTP/1.1 ${status}` }).bodyLength).toBe(0);
    expect(parse(['transfer-encoding: chunked'], { status: `HTTP/1.1 ${status}` }).bodyLength).toBe(0);
  });

  it('answer to HEAD → none', () => expect(parse(['content-length: 5'], { method: 'HEAD' }).bodyLength).toBe(0));
});

describe('idle time of the connection', () => {
  const LENGTH = 'content-length: 0';

  it.each([
    [[], 15_000],
    [['connection: keep-alive'], 15_000],
    [['Connection: Close'], 0],
    [['connection: x-a, close'], 0],
    [['connection: x-a', 'connection: close'], 0],
    [['connection: closed'], 15_000],
    [['connection: close\xa0'], 15_000],
    [['keep-alive: timeout=5'], 3_000],
    [['Keep-Alive: max=100, Timeout=5'], 3_000],
    [['keep-alive: timeout=5, max=100'], 3_000],
    [['keep-alive: timeout=1'], 0],
    [['keep-alive: timeout=0'], 0],
    [['keep-alive: timeout=600'], 30_000],
    [['keep-alive: max=100'], 15_000],
    [['keep-alive: timeout=5', 'connection: close'], 0],
  ])('%j → %i ms', (lines, keepAliveMs) => expect(parse([LENGTH, ...lines]).keepAliveMs).toBe(keepAliveMs));

  it('interim answer that closes the connection → refused: no final answer follows', () => {
    const status = 'HTTP/1.1 103 Early Hints';
    expectRefused(() => parse(['connection: close'], { status }));
    expectRefused(() => parse([], { status: 'HTTP/1.0 100 Continue' }));
    expect(parse(['keep-alive: timeout=1'], { status }).status).toBe(103);
    expect(parse(['connection: keep-alive'], { status: 'HTTP/1.0 100 Continue' }).status).toBe(100);
  });

  it('HTTP/1.0 → kept alive only if it says so', () => {
    const status = 'HTTP/1.0 200 OK';
    expect(parse([LENGTH], { status }).keepAliveMs).toBe(0);
    expect(parse([LENGTH, 'connection: Keep-Alive'], { status }).keepAliveMs).toBe(15_000);
    expect(parse([LENGTH, 'connection: keep-alive\xa0'], { status }).keepAliveMs).toBe(0);
  });

  it('body until the connection closes → no idle time', () => {
    expect(parse(['connection: keep-alive', 'keep-alive: timeout=60']).keepAliveMs).toBe(0);
  });
});
