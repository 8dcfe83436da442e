import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

interface ReaderModule {
  ResponseReader: new (sink: {
    onHead(statusCode: number): void;
    onBody(bytes: Buffer): void;
    onEnd(statusCode: number): void;
  }) => { push(bytes: Buffer): void; close(): boolean };
}
interface ClockModule {
  stamp(atMs: number): string;
  StampReader: new () => { read(bytes: Buffer, onStamp: (sentMs: number) => void): void };
}

const load = async (file: string): Promise<unknown> => import(file);
const { ResponseReader } = (await load('./response-reader.mjs')) as ReaderModule;
const { StampReader, stamp } = (await load('./clock.mjs')) as ClockModule;

/** Cuts bytes at arbitrary places, as a network does. */
function cut(bytes: Buffer, sizes: number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

function readAll(pieces: Buffer[]) {
  const answers: { statusCode: number; body: string }[] = [];
  let body = '';
  const reader = new ResponseReader({
    onHead: () => {
      body = '';
    },
    onBody: (bytes) => {
      body += bytes.toString('latin1');
    },
    onEnd: (statusCode) => answers.push({ statusCode, body }),
  });
  for (const piece of pieces) reader.push(piece);
  return { answers, reader };
}

const chunked = (parts: string[]) =>
  `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
const sizes = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 });

describe('response reader', () => {
  it('any split: fixed and chunked answers on one connection → the same statuses and bodies', () => {
    const part = fc.string({ minLength: 1, maxLength: 30, unit: fc.constantFrom('a', '\r', '\n', '0', '@', ' ') });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), part, sizes, (parts, fixed, cuts) => {
        const wire = Buffer.from(
          `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(parts)}` +
            'HTTP/1.1 100 Continue\r\n\r\n' +
            `HTTP/1.1 429 No\r\ncontent-length: ${fixed.length}\r\n\r\n${fixed}` +
            'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
          'latin1',
        );
        expect(readAll(cut(wire, cuts)).answers).toEqual([
          { statusCode: 200, body: parts.join('') },
          { statusCode: 429, body: fixed },
          { statusCode: 200, body: '' },
        ]);
      }),
    );
  });

  it('body without a length: the peer closes → complete', () => {
    const { answers, reader } = readAll([Buffer.from('HTTP/1.1 200 OK\r\n\r\nabc')]);
    expect(answers).toEqual([]);
    expect(reader.close()).toBe(true);
    expect(answers).toEqual([{ statusCode: 200, body: 'abc' }]);
  });

  it('peer closes inside a fixed body → not an answer', () => {
    const { answers, reader } = readAll([Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc')]);
    expect(reader.close()).toBe(false);
    expect(answers).toEqual([]);
  });

  it.each(['garbage\r\n\r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'])(
    '%j → refused',
    (wire) => {
      expect(() => readAll([Buffer.from(wire)])).toThrow();
    },
  );
});

describe('timestamp reader', () => {
  it('any split: timestamps among other text → each once, in order', () => {
    const moment = fc.integer({ min: 0, max: 1e9 }).map((micros) => micros / 1e3);
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 6 }), sizes, (moments, cuts) => {
        const wire = Buffer.from(moments.map((atMs) => `data: {"content":"${stamp(atMs)}"}\n\n`).join(''));
        const reader = new StampReader();
        const seen: number[] = [];
        for (const piece of cut(wire, cuts)) reader.read(piece, (sentMs) => seen.push(sentMs));
        expect(seen).toEqual(moments);
      }),
    );
  });
});
