import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ResponseReader } from './response-reader.js';

const LENGTH_HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n';
const CHUNKED_HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const OPEN_HEAD = 'HTTP/1.1 200 OK\r\n\r\n';

/** A reader that expects an answer to a POST, and its events so far. */
function reading(method = 'POST') {
  const told: string[] = [];
  const bodies: Buffer[] = [];
  const reader = new ResponseReader({
    onHead: ({ status }) => void told.push(`head ${status}`),
    onBytes: (bytes) => {
      told.push(`bytes ${bytes.toString('latin1')}`);
      bodies.push(bytes);
    },
    onEnd: () => void told.push('end'),
  });
  reader.expect(method);
  return {
    reader,
    told,
    push: (text: string) => reader.push(Buffer.from(text, 'latin1')),
    body: () => Buffer.concat(bodies),
  };
}

/**
 * The events of a complete answer that arrives in chunks of this many bytes; adjacent chunks of the body are joined.
 */
function toldOf(answer: string, pieceBytes = answer.length): { told: string[]; body: string } {
  const { told, push, body } = reading();
  for (let at = 0; at < answer.length; at += pieceBytes) push(answer.slice(at, at + pieceBytes));
  return { told: told.filter((one) => !one.startsWith('bytes')), body: body().toString('latin1') };
}

describe('a response that arrives at once', () => {
  it.each([
    ['length', `${LENGTH_HEAD}12345`, ['head 200', 'bytes 12345', 'end']],
    ['length 0', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', ['head 200', 'end']],
    ['chunks', `${CHUNKED_HEAD}3\r\n123\r\n2;a=b\r\n45\r\n0\r\n\r\n`, ['head 200', 'bytes 12345', 'end']],
    ['no chunk', `${CHUNKED_HEAD}0\r\n\r\n`, ['head 200', 'end']],
    ['trailers', `${CHUNKED_HEAD}1\r\n1\r\n0\r\nx-a: 1\r\nx-b: 2\r\n\r\n`, ['head 200', 'bytes 1', 'end']],
    [
      'size in upper case, with zeros',
      `${CHUNKED_HEAD}000A\r\n1234567890\r\n00\r\n\r\n`,
      ['head 200', 'bytes 1234567890', 'end'],
    ],
    [
      'interim heads',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${LENGTH_HEAD}12345`,
      ['head 100', 'head 103', 'head 200', 'bytes 12345', 'end'],
    ],
    ['no body by its status', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', ['head 204', 'end']],
  ])('%s', (_name, answer, expected) => {
    const { told, push } = reading();
    push(answer);
    expect(told).toEqual(expected);
  });

  it('answer to HEAD → no body', () => {
    const { told, push } = reading('HEAD');
    push(LENGTH_HEAD);
    expect(told).toEqual(['head 200', 'end']);
  });

  it('body until the connection closes → ends with it', () => {
    const { reader, told, push } = reading();
    push(`${OPEN_HEAD}12`);
    push('345');
    expect(told).toEqual(['head 200', 'bytes 12', 'bytes 345']);
    expect(reader.close()).toBe(true);
    expect(told.at(-1)).toBe('end');
  });

  it.each([
    ['before its head', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\n'],
    ['after an interim head', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['in its body', `${LENGTH_HEAD}1234`],
    ['in a chunk', `${CHUNKED_HEAD}5\r\n1234`],
    ['between chunks', `${CHUNKED_HEAD}1\r\n1\r\n`],
    ['before the last line', `${CHUNKED_HEAD}1\r\n1\r\n0\r\n`],
    ['after its end', `${LENGTH_HEAD}12345`],
  ])('connection that closes %s → incomplete', (_name, answer) => {
    const { reader, told, push } = reading();
    push(answer);
    const before = [...told];
    expect(reader.close()).toBe(false);
    expect(told).toEqual(before);
  });
});

describe('responses in chunks', () => {
  it.each([
    `${LENGTH_HEAD}12345`,
    `${CHUNKED_HEAD}3\r\n123\r\n2;a="b; \\"c\xe9";d;e=f\r\n45\r\n0;g=""\r\nx-a: 1\r\nx-b:\r\n\r\n`,
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nx-a: 1\r\n\r\n${CHUNKED_HEAD}5\r\n12345\r\n0\r\n\r\n`,
    `HTTP/1.1 100 Continue\r\n\r\n${LENGTH_HEAD}12345`,
  ])('%j in chunks of any size → the same', (answer) => {
    const whole = toldOf(answer);
    expect(whole.body).toBe('12345');
    for (let pieceBytes = 1; pieceBytes < answer.length; pieceBytes++)
      expect(toldOf(answer, pieceBytes)).toEqual(whole);
  });

  it('several chunks that arrive together → one delivery, which does not share memory that changes afterwards', () => {
    const { reader, told, body } = reading();
    const memory = Buffer.from(`${CHUNKED_HEAD}1\r\n1\r\n2\r\n23\r\n`);
    reader.push(memory);
    memory.fill('x');
    expect(told).toEqual(['head 200', 'bytes 123']);
    expect(body().toString()).toBe('123');
  });

  it('head in memory that changes before its rest arrives → the original head', () => {
    const { reader, told, push } = reading();
    const memory = Buffer.from(LENGTH_HEAD.slice(0, 20));
    reader.push(memory);
    memory.fill('x');
    push(`${LENGTH_HEAD.slice(20)}12345`);
    expect(told).toEqual(['head 200', 'bytes 12345', 'end']);
  });

  it('one answer after the other on a connection → each call gets its own', () => {
    const { reader, told, push } = reading();
    push(`${CHUNKED_HEAD}1\r\na\r\n0\r\nx-a: 1\r\n\r\n`);
    reader.expect('POST');
    push(`${LENGTH_HEAD}12345`);
    reader.expect('POST');
    push(`${CHUNKED_HEAD}2\r\nbc\r\n0\r\n\r\n`);
    expect(told).toEqual([
      ...['head 200', 'bytes a', 'end'],
      ...['head 200', 'bytes 12345', 'end'],
      ...['head 200', 'bytes bc', 'end'],
    ]);
  });
});

describe('invalid answers', () => {
  const size = (text: string) => `${CHUNKED_HEAD}${text}`;

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
    ['change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['bytes after its answer', `${LENGTH_HEAD}123456`],
    ['second answer', `${LENGTH_HEAD}12345${LENGTH_HEAD}12345`],
    ['bytes after the last chunk', size('0\r\n\r\nx')],
    ['chunk without a size', size('\r\n')],
    ['size that is not a number', size('g\r\n')],
    ['negative size', size('-1\r\n')],
    ['size with a prefix', size('0x1\r\n')],
    ['blank before a size', size(' 1\r\n')],
    ['size beyond what is exact', size('10000000000000\r\n')],
    ['size that ends with a line feed', size('1\n1\r\n')],
    ['size that ends with a carriage return', size('1\r1\r\n')],
    ['line feed in an extension', size('1;a\nb\r\n')],
    ['control character in an extension', size('1;a\x00\r\n1\r\n0\r\n\r\n')],
    ['blank after a size', size('1 \r\n1\r\n0\r\n\r\n')],
    ['tabulator after a size', size('1\t\r\n1\r\n0\r\n\r\n')],
    ['blank before an extension', size('1 ;a\r\n1\r\n0\r\n\r\n')],
    ['blank in an extension', size('1; a\r\n1\r\n0\r\n\r\n')],
    ['extension without a name', size('1;\r\n1\r\n0\r\n\r\n')],
    ['extension with two values', size('1;a=b=c\r\n1\r\n0\r\n\r\n')],
    ['extension after the end of its quotes', size('1;a="b"c\r\n1\r\n0\r\n\r\n')],
    ['quotes without an end', size('1;a="b\r\n1\r\n0\r\n\r\n')],
    ['chunk that is longer than its size', size('1\r\n12\r\n')],
    ['chunk that ends with a line feed', size('1\r\n1\n')],
    ['trailer that ends with a line feed', size('0\r\nx-a: 1\n\r\n')],
    ['carriage return in a trailer', size('0\r\nx-a: 1\rb\r\n\r\n')],
    ['control character in a trailer', size('0\r\nx-a: \x00\r\n\r\n')],
    ['trailer without a colon', size('0\r\nx-a\r\n\r\n')],
    ['trailer without a name', size('0\r\n: 1\r\n\r\n')],
    ['blank before the colon of a trailer', size('0\r\nx-a : 1\r\n\r\n')],
    ['folded trailer', size('0\r\nx-a: 1\r\n 2\r\n\r\n')],
    ['length in a trailer', size('0\r\nContent-Length: 1\r\n\r\n')],
    ['transfer coding in a trailer', size('0\r\ntransfer-encoding: chunked\r\n\r\n')],
    ['extension without end', size(`1;${'a'.repeat(5_000)}\r\n1\r\n0\r\n\r\n`)],
    ['trailers without end', size(`0\r\n${'x-a: 1\r\n'.repeat(20_000)}\r\n`)],
  ])('%s → refused, in chunks of any size', (_name, answer) => {
    for (const pieceBytes of [answer.length, 1, 7])
      expect(() => toldOf(answer, pieceBytes)).toThrow(expect.objectContaining({ code: 'invalid_answer' }));
  });

  it('unrequested bytes → refused', () => {
    const { reader } = reading();
    reader.push(Buffer.from(`${LENGTH_HEAD}12345`));
    expect(() => reader.push(Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'invalid_answer' }));
  });

  it.each([1, 1_000, 100_000])('head of more than 64 KiB in chunks of %i → refused', (pieceBytes) => {
    const answer = `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(70_000)}\r\n\r\n`;
    expect(() => toldOf(answer, pieceBytes)).toThrow(expect.objectContaining({ code: 'head_too_large' }));
  });

  it('head of slightly less → read', () => {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-a: ${'x'.repeat(65_000)}\r\n\r\n`;
    expect(toldOf(answer, 1_000).told).toEqual(['head 200', 'end']);
  });
});

describe('compared with Node’s own messages', () => {
  /** All bytes of one answer of Node's server. */
  async function sentBy(answer: (response: ServerResponse) => void): Promise<Buffer> {
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => answer(response));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    try {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.end('POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return await buffer(socket);
    } finally {
      server.close();
    }
  }

  it('any body, in any chunks, sent and received → the same body', async () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), fc.integer({ min: 1, max: 400 }), async (body, isChunked, pieceBytes) => {
        const expected = Buffer.concat(body);
        const sent = await sentBy((response) => {
          response.writeHead(200, isChunked ? { trailer: 'x-a' } : { 'content-length': expected.length });
          for (const piece of body) response.write(piece);
          if (isChunked) response.addTrailers({ 'x-a': '1' });
          response.end();
        });
        const { reader, told, body: received } = reading();
        for (let at = 0; at < sent.length; at += pieceBytes) reader.push(sent.subarray(at, at + pieceBytes));
        expect(received()).toEqual(expected);
        expect(told.at(-1)).toBe('end');
      }),
      { numRuns: 60 },
    );
  });
});
