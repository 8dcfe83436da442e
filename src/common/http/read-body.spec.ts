import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readBody } from './read-body.js';

const MAX_BYTES = 1_000;
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

function readAndAnswer(request: IncomingMessage, response: ServerResponse, tell: (outcome: unknown) => void): void {
  readBody(request, MAX_BYTES)
    .then(tell, tell)
    .finally(() => response.end());
}

/** Sends the head of a request; the test writes the body. */
async function exchange(framing: string, handle = readAndAnswer): Promise<Exchange> {
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
  it('whole body at once → its bytes', async () => {
    const { socket, outcome } = await exchange('Content-Length: 5');
    socket.write('hello');
    expect(await outcome).toEqual(Buffer.from('hello'));
  });

  it('body in several pieces, characters cut → joined in order', async () => {
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

  it('the client breaks off → 400, told apart from a complete body', async () => {
    const { socket, outcome } = await exchange('Content-Length: 10');
    socket.write('half');
    await sleep(20);
    socket.destroy();
    expect(await outcome).toMatchObject({ code: 'invalid_request', status: 400, reason: 'body_truncated' });
  });

  it('chunked body → read to its end, whatever the pieces', async () => {
    const { socket, outcome } = await exchange('Transfer-Encoding: chunked');
    socket.write('3\r\nabc\r\n');
    await sleep(5);
    socket.write('2\r\nde\r\n0\r\n\r\n');
    expect(await outcome).toEqual(Buffer.from('abcde'));
  });

  it('read only after the client has left → 400 instead of waiting for ever', async () => {
    const { socket, message } = await exchange('Content-Length: 10', () => undefined);
    const request = await message;
    const closed = new Promise((resolve) => request.on('error', () => {}).once('close', resolve));
    socket.destroy();
    await closed;
    await expect(readBody(request, MAX_BYTES)).rejects.toMatchObject({ reason: 'body_truncated' });
  });
});
