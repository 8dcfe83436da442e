import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { lingerWhereUnread, readOnWhenClosing } from './lingering-close.js';

const MIB = 1024 * 1024;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** A server that refuses every request at its head. */
async function refusing(bounds?: { maxBytes?: number; maxMs?: number }): Promise<number> {
  const server = createServer((message, response) => {
    response.prependListener('finish', () => readOnWhenClosing(message, bounds));
    response.writeHead(413, { connection: 'close', 'content-length': 7 }).end('refused');
  });
  return listening(server);
}

/** A server that answers every request at its head, with a body of this size. */
async function answering(bytes: number): Promise<number> {
  const server = createServer((_message, response) => {
    lingerWhereUnread(response);
    response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes));
  });
  return listening(server);
}

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

interface Raw {
  readonly socket: Socket;
  readonly answer: () => string;
  /** Resolves with the connection's error, if any. */
  readonly closed: Promise<string | undefined>;
}

/** A client that reads its response only on demand. */
function rawClient(port: number, framing: string): Raw {
  const socket = connect(port, '127.0.0.1').pause();
  const parts: Buffer[] = [];
  let failure: string | undefined;
  socket.on('error', (error) => {
    failure = error.message;
  });
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.pause();
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
  const closed = new Promise<string | undefined>((resolve) => socket.once('close', () => resolve(failure)));
  return { socket, answer: () => Buffer.concat(parts).toString('latin1'), closed };
}

async function write(socket: Socket, bytes: Buffer): Promise<void> {
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
}

describe('a refusal while the client still sends', () => {
  it('30 MiB written before the client reads the answer → the refusal, then the end, no reset', async () => {
    const { socket, answer, closed } = rawClient(await refusing(), `Content-Length: ${30 * MIB}`);
    for (let sent = 0; sent < 30; sent++) await write(socket, Buffer.alloc(MIB));
    await sleep(50);
    socket.resume();
    expect(await closed).toBeUndefined();
    expect(answer()).toMatch(/^HTTP\/1\.1 413 [\s\S]*refused$/);
  });

  it('a long answer before an unread body → it arrives complete', async () => {
    const { socket, answer, closed } = rawClient(
      await answering(8 * MIB),
      `Connection: close\r\nContent-Length: ${2 * MIB}`,
    );
    await write(socket, Buffer.alloc(2 * MIB));
    socket.resume();
    expect(await closed).toBeUndefined();
    expect(answer().length).toBeGreaterThan(8 * MIB);
  });

  it('a connection that stays → serves one request after another, and closes after the last', async () => {
    const { socket, answer, closed } = rawClient(await answering(2), 'Content-Length: 100000');
    for (let sent = 0; sent < 20; sent++) {
      await sleep(5);
      await write(socket, Buffer.alloc(100_000));
      await write(socket, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n'));
    }
    await write(socket, Buffer.alloc(100_000));
    await write(socket, Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'));
    socket.resume();
    expect(await closed).toBeUndefined();
    expect(answer().match(/HTTP\/1\.1 200 /g)).toHaveLength(22);
  });

  it('a client of the platform in chunks → its answer', async () => {
    const port = await refusing();
    const status = await new Promise((resolve, reject) => {
      const call = request({ port, host: '127.0.0.1', method: 'POST', agent: false }, ({ statusCode }) =>
        resolve(statusCode),
      );
      call.on('error', reject);
      for (let sent = 0; sent < 30; sent++) call.write(Buffer.alloc(MIB));
      call.end();
    });
    expect(status).toBe(413);
  });

  it('a whole request → closed at once', async () => {
    const { socket, answer, closed } = rawClient(await refusing({ maxMs: 60_000 }), 'Content-Length: 2\r\n\r\nab');
    socket.resume();
    await closed;
    expect(answer()).toMatch(/refused$/);
  });

  it('an endless body → closed after the allowed number of bytes', async () => {
    const { socket, closed } = rawClient(await refusing({ maxBytes: MIB }), 'Transfer-Encoding: chunked');
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000), Buffer.from('\r\n')]);
    let isOpen = true;
    void closed.then(() => {
      isOpen = false;
    });
    let sent = 0;
    while (isOpen && sent < 64 * MIB) {
      socket.write(chunk);
      sent += chunk.length;
      // A thousand timers, one after the other: the sweeps of the service come in between, even on a busy machine.
      await sleep(1);
    }
    await closed;
    expect(sent).toBeLessThan(64 * MIB);
  });

  it('a body that stalls → closed when the time is up, after the refusal', async () => {
    const { socket, answer, closed } = rawClient(await refusing({ maxMs: 100 }), 'Content-Length: 1000');
    socket.resume();
    await closed;
    expect(answer()).toMatch(/refused$/);
  });

  it('a client that disconnects → nothing is kept', async () => {
    const { socket, closed } = rawClient(await refusing({ maxMs: 60_000 }), 'Content-Length: 1000');
    socket.destroy();
    await closed;
    const [server] = servers;
    await new Promise<void>((resolve) => server?.close(() => resolve()));
  });
});
