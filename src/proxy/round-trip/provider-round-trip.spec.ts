import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { buildConnector } from 'undici';
import { eventually } from '../../../test/support/eventually.js';
import { callOn, socketsRead } from '../../../test/support/proxy/connection-call.js';
import { startUpstream } from '../../../test/support/proxy/upstream.js';
import { json } from '../../../test/support/proxy/upstream-scripts.js';
import { SystemClock } from '../../common/clock.js';
import { OriginPool } from '../connections/origin-pool.js';
import { ProviderConnection } from '../connections/provider-connection.js';
import { parseResponseHead } from '../connections/response-head.rules.js';
import { TurnBatch } from '../turn-batch.js';
import type { ProviderCall } from './provider-call.js';
import { decodingOf, ProviderRoundTrip } from './provider-round-trip.js';

const TEXT = Buffer.from('data: {"choices":[]}\n\n'.repeat(200));

function decoderOf(coding: string, firstByte: number) {
  const decoding = decodingOf(coding);
  if (typeof decoding === 'string') throw new Error(`no decoder for ${coding}`);
  return decoding(firstByte);
}

function decoded(coding: string, chunks: readonly Buffer[]): Promise<Buffer> {
  return buffer(Readable.from(chunks).pipe(decoderOf(coding, chunks[0]?.[0] ?? 0)));
}

describe('encoded answers', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['zstd', zstdCompressSync(TEXT)],
    [' GZIP ', gzipSync(TEXT)],
  ])('%s, byte by byte → the decoded body', async (coding, coded) => {
    expect(
      await decoded(
        coding,
        Array.from(coded, (byte) => Buffer.from([byte])),
      ),
    ).toEqual(TEXT);
  });

  it.each([undefined, '', ' ', 'identity', 'Identity'])('"%s" → nothing to decode', (coding) => {
    expect(decodingOf(coding)).toBe('identity');
  });

  it.each(['compress', 'gzip, br', 'aws-chunked', 'constructor', '__proto__'])('"%s" → cannot be decoded', (coding) => {
    expect(decodingOf(coding)).toBe('unknown');
  });

  it.each([
    ['cut short', gzipSync(TEXT).subarray(0, -10)],
    ['not coded at all', TEXT],
  ])('body %s → an error, not a body that looks complete', async (_name, body) => {
    const decoder = decoderOf('gzip', body[0] ?? 0);
    const failed = new Promise((resolve) => decoder.once('error', resolve));
    decoder.resume().end(body);
    expect(await failed).toMatchObject({ code: expect.stringMatching(/^Z_/) });
  });

  it('two answers at once → one decoder each', async () => {
    const half = gzipSync(TEXT).length / 2;
    const coded = gzipSync(TEXT);
    const parts = [coded.subarray(0, half), coded.subarray(half)];
    expect(await Promise.all([decoded('gzip', parts), decoded('gzip', parts)])).toEqual([TEXT, TEXT]);
  });
});

const BOUNDS = { maxConnections: 1, silenceTimeoutMs: 0 };
const CALL = { method: 'POST', path: '/', headers: [], body: undefined, ttfbTimeoutMs: 60_000 };

describe('data that arrives in one turn', () => {
  const LIMIT_BYTES = 16 * 1024;

  /** A round trip whose answer the test passes to its connection, which has no socket, and what it has delivered. */
  function receiving(onBytes: (bytes: Buffer) => void = () => undefined) {
    const told: string[] = [];
    const call: Partial<ProviderCall> = CALL;
    const origin = new URL('http://127.0.0.1:9');
    const free = () => void told.push('free');
    const connection = new ProviderConnection(origin, () => undefined, 0, new SystemClock(), free);
    const roundTrip: ProviderRoundTrip = new ProviderRoundTrip(
      call as ProviderCall,
      {
        onSend: () => undefined,
        onHead: ({ head: { status } }) => void told.push(`head ${status}`),
        onBytes: (bytes) => {
          told.push(`${bytes.length} bytes`);
          onBytes(bytes);
        },
        onEnd: () => {
          told.push('end');
          roundTrip.finish();
        },
        onFailure: ({ message }) => {
          told.push(`failure: ${message}`);
          roundTrip.finish();
        },
      },
      new TurnBatch(),
    );
    roundTrip.take(connection);
    roundTrip.start();
    return {
      told,
      roundTrip,
      connection,
      head: (field = 'content-type: text/event-stream') =>
        connection.onHead(parseResponseHead(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n${field}`, 'POST')),
      bytes: (size: number) => connection.onBytes(Buffer.alloc(size)),
      end: () => connection.onEnd(),
      fail: () => connection.abort(new Error('cut')),
    };
  }

  it('head, chunks and end → delivered at the end of the turn, in this order', async () => {
    const { told, head, bytes, end } = receiving();
    head();
    bytes(1);
    bytes(2);
    end();
    expect(told).toEqual(['free']);
    await nextTurn();
    expect(told).toEqual(['free', 'head 200', '1 bytes', '2 bytes', 'end']);
  });

  it('more bytes than may be queued → delivered at once, with the head before them', async () => {
    const { told, head, bytes } = receiving();
    head();
    bytes(LIMIT_BYTES);
    expect(told).toEqual([]);
    bytes(1);
    expect(told).toEqual(['head 200', `${LIMIT_BYTES} bytes`, '1 bytes']);
    bytes(LIMIT_BYTES + 1);
    expect(told.at(-1)).toBe(`${LIMIT_BYTES + 1} bytes`);
    await nextTurn();
    expect(told).toHaveLength(4);
  });

  it('connection that breaks in the turn of its bytes → they come before the failure, and nothing after it', async () => {
    const { told, head, bytes, fail } = receiving();
    head();
    bytes(5);
    fail();
    expect(told).toEqual(['free', 'head 200', '5 bytes', 'failure: cut']);
    await nextTurn();
    expect(told).toHaveLength(4);
  });

  it('stopped after the whole answer has arrived → complete, once', async () => {
    const { told, roundTrip, head, bytes, end } = receiving();
    head();
    bytes(5);
    end();
    roundTrip.stop('interrupted');
    await nextTurn();
    expect(told).toEqual(['free', 'head 200', '5 bytes', 'end']);
  });

  it('stopped in the middle of an answer → what has arrived, then the failure', async () => {
    const { told, roundTrip, head, bytes } = receiving();
    head();
    bytes(5);
    roundTrip.stop('interrupted');
    await nextTurn();
    expect(told).toEqual(['free', 'head 200', '5 bytes', 'failure: interrupted']);
  });

  it('finished before it was delivered → none of the arrived bytes', async () => {
    const { told, roundTrip, head, bytes, end } = receiving();
    head();
    bytes(5);
    end();
    roundTrip.finish();
    await nextTurn();
    expect(told).toEqual(['free']);
  });

  it('receiver that throws → the call fails with its error and nothing more is delivered', async () => {
    const { told, head, bytes, end } = receiving((received) => {
      if (received.length === 1) throw new Error('cannot relay');
    });
    head();
    bytes(1);
    bytes(2);
    await nextTurn();
    end();
    await nextTurn();
    expect(told).toEqual(['head 200', '1 bytes', 'free', 'failure: cannot relay']);
  });

  it('encoded answer → its head before its bytes, even if the bytes are decoded first', async () => {
    const { told, connection, head, end } = receiving();
    head('content-encoding: gzip');
    connection.onBytes(gzipSync(TEXT));
    end();
    while (told.at(-1) !== 'end') await nextTurn();
    expect(told).toEqual(['free', 'head 200', `${TEXT.length} bytes`, 'end']);
  });
});

describe('a connection after its call', () => {
  it('call that is stopped before its request was sent → its connection is free, and nothing is sent on it', () => {
    const pool = new OriginPool('http://127.0.0.1:9', BOUNDS, () => undefined, new SystemClock());
    const call: Partial<ProviderCall> = { ...CALL, pool };
    const told: string[] = [];
    const roundTrip: ProviderRoundTrip = new ProviderRoundTrip(
      call as ProviderCall,
      {
        onSend: () => void told.push('send'),
        onHead: () => undefined,
        onBytes: () => undefined,
        onEnd: () => undefined,
        onFailure: ({ message }) => {
          told.push(message);
          roundTrip.finish();
        },
      },
      new TurnBatch(),
    );
    const connection = pool.acquire();
    if (connection === undefined) throw new Error('a connection was expected');
    roundTrip.take(connection);
    roundTrip.stop('interrupted');
    roundTrip.start();
    expect([told, pool.busy, pool.isEmpty]).toEqual([['interrupted'], 0, true]);
  });

  it('receiver that paused before the last bytes → the next call on the connection is answered', async () => {
    const upstream = await startUpstream({ script: json(200, 'ok') });
    const pool = new OriginPool(upstream.url, BOUNDS, buildConnector({}), new SystemClock());
    const call: Partial<ProviderCall> = { ...CALL, pool };
    const told: string[] = [];
    const roundTrip: ProviderRoundTrip = new ProviderRoundTrip(
      call as ProviderCall,
      {
        onSend: () => undefined,
        onHead: () => undefined,
        onBytes: () => roundTrip.pause(),
        onEnd: () => {
          told.push('end');
          roundTrip.finish();
          roundTrip.resume();
        },
        onFailure: ({ message }) => void told.push(message),
      },
      new TurnBatch(),
    );
    const connection = pool.acquire();
    if (connection === undefined) throw new Error('a connection was expected');
    roundTrip.take(connection);
    roundTrip.start();
    await eventually(() => told.length > 0, { withinMs: 10_000 });
    await socketsRead();
    expect([told, pool.acquire()]).toEqual([['end'], connection]);
    let body = '';
    callOn(connection).then(
      (answer) => {
        body = answer.body.toString();
      },
      () => undefined,
    );
    try {
      await eventually(() => body === 'ok', { withinMs: 10_000 });
    } finally {
      connection.close();
      await upstream.close();
    }
  });
});
