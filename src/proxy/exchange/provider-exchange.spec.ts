import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { decodingOf } from './provider-exchange.js';

const TEXT = Buffer.from('data: {"choices":[]}\n\n'.repeat(200));

function decoded(coding: string, chunks: readonly Buffer[]): Promise<Buffer> {
  const decoding = decodingOf(coding);
  if (decoding.kind !== 'decoder') throw new Error(`no decoder for ${coding}`);
  return buffer(Readable.from(chunks).pipe(decoding.decoder));
}

describe('coded answers', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    [' GZIP ', gzipSync(TEXT)],
  ])('%s, byte by byte → the body itself', async (coding, coded) => {
    expect(
      await decoded(
        coding,
        Array.from(coded, (byte) => Buffer.from([byte])),
      ),
    ).toEqual(TEXT);
  });

  it.each([undefined, '', ' ', 'identity', 'Identity'])('"%s" → nothing to undo', (coding) => {
    expect(decodingOf(coding)).toEqual({ kind: 'identity' });
  });

  it.each(['compress', 'gzip, br', 'aws-chunked', 'constructor', '__proto__'])('"%s" → not by us', (coding) => {
    expect(decodingOf(coding)).toEqual({ kind: 'unknown' });
  });

  it.each([
    ['cut short', gzipSync(TEXT).subarray(0, -10)],
    ['not coded at all', TEXT],
  ])('body %s → an error, not a body that looks complete', async (_name, body) => {
    const decoding = decodingOf('gzip');
    if (decoding.kind !== 'decoder') throw new Error('a decoder was expected');
    const failed = new Promise((resolve) => decoding.decoder.once('error', resolve));
    decoding.decoder.resume().end(body);
    expect(await failed).toMatchObject({ code: expect.stringMatching(/^Z_/) });
  });

  it('two answers at once → a decoder each', async () => {
    const half = gzipSync(TEXT).length / 2;
    const coded = gzipSync(TEXT);
    const parts = [coded.subarray(0, half), coded.subarray(half)];
    expect(await Promise.all([decoded('gzip', parts), decoded('gzip', parts)])).toEqual([TEXT, TEXT]);
  });
});
