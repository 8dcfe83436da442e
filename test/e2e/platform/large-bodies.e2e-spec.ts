import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(MIB, 'x');

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  client = await ProxyClient.create(world);
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

interface Sender {
  readonly socket: Socket;
  /** Whether the service still accepts bytes. */
  isOpen(): boolean;
  /** Starts reading the answer; returns all of it, and the error of the connection, if any. */
  read(): Promise<{ answer: string; failure: string | undefined }>;
}

const TARGETS: [name: string, target: () => string, credential: () => string][] = [
  ['the proxy', () => `/v1/apps/${client.appId}/proxy/${client.slug}/v1/responses`, () => client.key],
  ['management', () => '/v1/admin/apps', () => world.managementKey],
  ['an exchange', () => `/v1/apps/${client.appId}/auth/token`, () => client.key],
];

/** A client that does not read the answer until requested. */
function sender(target: string, bearer: string, framing: string, method = 'POST'): Sender {
  const { hostname, port } = new URL(world.baseUrl);
  const socket = connect(Number(port), hostname);
  const parts: Buffer[] = [];
  let failure: string | undefined;
  let isOpen = true;
  socket.on('error', (error) => {
    failure = error.message;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  void closed.then(() => {
    isOpen = false;
  });
  const head = [`${method} ${target} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${bearer}`, 'X-App-Version: 1'];
  socket.write([...head, 'Content-Type: application/json', framing, '', ''].join('\r\n'));
  return {
    socket,
    isOpen: () => isOpen,
    async read() {
      socket.on('data', (part: Buffer) => parts.push(part));
      await closed;
      return { answer: Buffer.concat(parts).toString('latin1'), failure };
    },
  };
}

const write = (socket: Socket, bytes: string | Buffer): Promise<void> =>
  new Promise((resolve) => socket.write(bytes, () => resolve()));

async function writeChunk(socket: Socket, bytes: Buffer): Promise<void> {
  await write(socket, `${bytes.length.toString(16)}\r\n`);
  await write(socket, bytes);
  await write(socket, '\r\n');
}

function expectTooLarge({ answer, failure }: { answer: string; failure: string | undefined }): void {
  expect(failure).toBeUndefined();
  expect(answer).toMatch(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 413 [\s\S]*"code":"payload_too_large"/);
  expect(world.upstream.requests).toHaveLength(0);
}

describe.each(TARGETS)(
  'a body of 30 MiB that is written before the client reads the answer: %s',
  (_name, target, key) => {
    it('with a length → 413 arrives', async () => {
      const { socket, read } = sender(target(), key(), `Content-Length: ${30 * MIB}`);
      for (let sent = 0; sent < 30; sent++) await write(socket, PIECE);
      expectTooLarge(await read());
    });

    it('chunked → 413 arrives', async () => {
      const { socket, read } = sender(target(), key(), 'Transfer-Encoding: chunked');
      for (let sent = 0; sent < 30; sent++) await writeChunk(socket, PIECE);
      await write(socket, '0\r\n\r\n');
      expectTooLarge(await read());
    });

    it('after `Expect: 100-continue` → 413 arrives', async () => {
      const { socket, read } = sender(target(), key(), `Content-Length: ${30 * MIB}\r\nExpect: 100-continue`);
      for (let sent = 0; sent < 30; sent++) await write(socket, PIECE);
      expectTooLarge(await read());
    });

    it('endless → the connection is closed after a bounded number of bytes', async () => {
      const { socket, isOpen } = sender(target(), key(), 'Transfer-Encoding: chunked');
      let sentMib = 0;
      while (isOpen() && sentMib < 400) {
        await write(socket, Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]));
        sentMib++;
        // Writes to a closed socket end at once, before the error is reported.
        await turn();
      }
      expect(sentMib).toBeLessThan(400);
    });
  },
);

it('RFC 9112 9.6: a client that closes, and an unread body before a long answer → the answer arrives complete', async () => {
  const { socket, read } = sender(
    '/openapi.json',
    client.key,
    `Connection: close\r\nContent-Length: ${2 * MIB}`,
    'GET',
  );
  for (let sent = 0; sent < 2; sent++) await write(socket, PIECE);
  const { answer, failure } = await read();
  expect(failure).toBeUndefined();
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(JSON.parse(body).openapi).toBe('3.1.0');
});
