import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { readBody } from './read-body.js';

const MAX_BYTES = 1_000;
const LARGE_BYTES = 8 * 1024 * 1024;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Exchange {
  readonly socket: Socket;
  /** The body, or its refusal. */
  readonly outcome: Promise<unknown>;
  readonly message: Promise<IncomingMessage>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, tell: (outcome: unknown) => void) => void;

function readUpTo(maxBytes: number): Handler {
  return (request, response, tell) => {
    readBody(request, maxBytes)
      .then(tell, tell)
      .finally(() => response.end());
  };
}

/** Sends a request head; the test writes the body. */
async function exchange(framing: string, handle = readUpTo(MAX_BYTES)): Promise<Exchange> {
  const outcome = Promise.withResolvers<unknown>();
  const message = Promise.withResolvers<IncomingMessage>();
  const server = createServer((request, response) => {
    message.resolve(request);
    handle(request, response, outcome.resolve);
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
  return { socket, outcome: outcome.promise, message: message.promise };
}

const TOO_LARGE = {
  code: 'payload_too_large',
  status: 413,
  message: 'The request body is larger than 1000 bytes.',
  headers: { connection: 'close' },
};

describe('reading a body', () => {
  it('message object that outlives the call → does not keep the body in memory', async () => {
    const { socket, outcome, message } = await exchange(
      `Content-Length: ${LARGE_BYTES}`,
      (request, _response, tell) => {
        readBody(request, LARGE_BYTES).then((body) => tell(new WeakRef(body.buffer)), tell);
      },
    );
    socket.write(Buffer.alloc(LARGE_BYTES));
    const body = await outcome;
    setFlagsFromString('--expose-gc');
    const gc: () => void = runInNewContext('gc');
    const isCollected = () => {
      gc();
      return body instanceof WeakRef && body.deref() === undefined;
    };
    await eventually(isCollected, { withinMs: 10_000 });
    expect((await message).complete).toBe(true);
  });

  it('whole body at once → its bytes', async () => {
    const { socket, outcome } = await exchange('Content-Length: 5');
    socket.write('hello');
    expect(await outcome).toEqual(Buffer.from('hello'));
  });

  it('body in several chunks that split characters → joined in order', async () => {
    const bytes = Buffer.from('áé€😀');
    const { socket, outcome } = await exchange(`Content-Length: ${bytes.length}`);
    for (const byte of bytes) {
      socket.write(Buffer.from([byte]));
      await sleep(2);
    }
    expect(await outcome).toEqual(bytes);
  });

  it('no body → empty', async () => {
    const { outcome } = await exchange('X-None: 1');
    expect(await outcome).toEqual(Buffer.alloc(0));
  });

  it('exactly the bound → read', async () => {
    const { socket, outcome } = await exchange(`Content-Length: ${MAX_BYTES}`);
    socket.write(Buffer.alloc(MAX_BYTES, 'x'));
    expect(await outcome).toEqual(Buffer.alloc(MAX_BYTES, 'x'));
  });

  it('one byte more declared → 413 before any of it is read', async () => {
    const { outcome, message } = await exchange(`Content-Length: ${MAX_BYTES + 1}`);
    expect(await outcome).toMatchObject(TOO_LARGE);
    expect((await message).readableDidRead).toBe(false);
  });

  it('one byte more without a declared length → 413', async () => {
    const { socket, outcome } = await exchange('Transfer-Encoding: chunked');
    socket.write(`${(MAX_BYTES + 1).toString(16)}\r\n${'x'.repeat(MAX_BYTES + 1)}\r\n`);
    expect(await outcome).toMatchObject(TOO_LARGE);
  });

  it('the client breaks off → 400, not mistaken for a complete body', async () => {
    const { socket, outcome, message } = await exchange('Content-Length: 10');
    socket.write('half');
    await message;
    socket.destroy();
    expect(await outcome).toMatchObject({ code: 'invalid_request', status: 400, reason: 'body_truncated' });
  });

  it('chunked body → read to its end, whatever the chunks', async () => {
    const { socket, outcome } = await exchange('Transfer-Encoding: chunked');
    socket.write('3\r\nabc\r\n');
    await sleep(5);
    socket.write('2\r\nde\r\n0\r\n\r\n');
    expect(await outcome).toEqual(Buffer.from('abcde'));
  });

  it.each([
    ['5 bytes', 'Content-Length: 5', 'hello', Buffer.from('hello')],
    ['none', 'Content-Length: 0', '', Buffer.alloc(0)],
    ['three pieces', 'Transfer-Encoding: chunked', '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n', Buffer.from('abc')],
    ['as many bytes as allowed', `Content-Length: ${MAX_BYTES}`, 'x'.repeat(MAX_BYTES), Buffer.alloc(MAX_BYTES, 'x')],
    [
      'more than allowed',
      'Transfer-Encoding: chunked',
      `${(MAX_BYTES + 1).toString(16)}\r\n${'x'.repeat(MAX_BYTES + 1)}\r\n0\r\n\r\n`,
      TOO_LARGE,
    ],
  ])(
    'body that has arrived before it is read: %s → the same as one read while it arrives; the message ends',
    async (...example) => {
      const [, framing, sent, expected] = example;
      const ended = Promise.withResolvers<void>();
      const { socket, outcome, message } = await exchange(framing, async (request, response, tell) => {
        request.once('end', ended.resolve);
        await eventually(() => request.complete, { withinMs: 10_000 });
        readUpTo(MAX_BYTES)(request, response, tell);
      });
      socket.write(sent);
      const body = await outcome;
      if (expected === TOO_LARGE) {
        expect(body).toMatchObject(TOO_LARGE);
        return;
      }
      expect(body).toEqual(expected);
      await ended.promise;
      expect((await message).readableEnded).toBe(true);
    },
  );

  it('read only after the client has left → 400 instead of waiting forever', async () => {
    const { socket, message } = await exchange('Content-Length: 10', () => undefined);
    const request = await message;
    const closed = new Promise((resolve) => request.on('error', () => {}).once('close', resolve));
    socket.destroy();
    await closed;
    await expect(readBody(request, MAX_BYTES)).rejects.toMatchObject({ reason: 'body_truncated' });
  });
});

async function bodyOf(outcome: Promise<unknown>): Promise<Buffer> {
  const body = await outcome;
  if (!Buffer.isBuffer(body)) throw new Error(`refused: ${JSON.stringify(body)}`);
  return body;
}

/** Bytes that encode their position, so that swapped chunks are detected. */
function counted(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32BE(at, at);
  return buffer;
}

const chunkOf = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

describe('reading a large body', () => {
  it.each([65_537, 1_000_003, LARGE_BYTES - 1, LARGE_BYTES])('%d bytes, declared → the same bytes', async (bytes) => {
    const body = counted(bytes);
    const { socket, outcome } = await exchange(`Content-Length: ${bytes}`, readUpTo(LARGE_BYTES));
    socket.write(body);
    expect(body.equals(await bodyOf(outcome))).toBe(true);
  });

  it.each([1, 7, 4_096, 65_536])('not declared, in chunks of %d bytes → the same bytes', async (step) => {
    const body = counted(step === 65_536 ? LARGE_BYTES : 200 * step);
    const { socket, outcome } = await exchange('Transfer-Encoding: chunked', readUpTo(LARGE_BYTES));
    for (let at = 0; at < body.length; at += step) socket.write(chunkOf(body.subarray(at, at + step)));
    socket.write('0\r\n\r\n');
    expect(body.equals(await bodyOf(outcome))).toBe(true);
  });

  it('declared → one buffer of exactly its size, and no chunks kept', async () => {
    const { socket, outcome } = await exchange(`Content-Length: ${LARGE_BYTES}`, readUpTo(LARGE_BYTES));
    socket.write(counted(LARGE_BYTES));
    const body = await bodyOf(outcome);
    expect([body.byteOffset, body.buffer.byteLength]).toEqual([0, LARGE_BYTES]);
  });

  it.each(['announced', 'not announced'])(
    '%s → its chunks are released without waiting for garbage collection',
    async (how) => {
      const framing = how === 'announced' ? `Content-Length: ${LARGE_BYTES}` : 'Transfer-Encoding: chunked';
      const chunks: Buffer[] = [];
      const { socket, outcome } = await exchange(framing, (request, response, tell) => {
        readUpTo(LARGE_BYTES)(request, response, tell);
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
      });
      const body = counted(LARGE_BYTES);
      socket.write(how === 'announced' ? body : Buffer.concat([chunkOf(body), Buffer.from('0\r\n\r\n')]));
      expect(body.equals(await bodyOf(outcome))).toBe(true);
      expect(chunks.length).toBeGreaterThan(2);
      expect(chunks.reduce((bytes, chunk) => bytes + chunk.length, 0)).toBe(0);
    },
  );

  it('not declared → less than twice its size is allocated', async () => {
    const { socket, outcome } = await exchange('Transfer-Encoding: chunked', readUpTo(LARGE_BYTES));
    const sent = LARGE_BYTES / 2 + 1;
    socket.write(chunkOf(Buffer.alloc(sent, 'x')));
    socket.write('0\r\n\r\n');
    const body = await bodyOf(outcome);
    expect(body.length).toBe(sent);
    expect(body.buffer.byteLength).toBeLessThan(2 * sent);
  });

  it('declared, but hardly anything arrives → hardly anything is allocated', async () => {
    const settled = () => process.memoryUsage().arrayBuffers;
    const before = settled();
    const clients = await Promise.all(
      Array.from({ length: 20 }, () => exchange(`Content-Length: ${LARGE_BYTES}`, readUpTo(LARGE_BYTES))),
    );
    const messages = await Promise.all(clients.map(({ message }) => message));
    for (let round = 0; round < 3; round++) {
      const bytesRead = messages.map(({ socket }) => socket.bytesRead);
      for (const { socket } of clients) socket.write('abc');
      const haveCome = () => messages.every(({ socket }, at) => socket.bytesRead >= (bytesRead[at] ?? 0) + 3);
      await eventually(haveCome, { withinMs: 10_000 });
    }
    expect(settled() - before).toBeLessThan(LARGE_BYTES / 4);
    for (const { socket } of clients) socket.destroy();
    expect(await clients[0]?.outcome).toMatchObject({ reason: 'body_truncated' });
  });
});
