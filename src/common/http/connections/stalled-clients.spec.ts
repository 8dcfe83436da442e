import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { SystemClock } from '../../clock.js';
import { Log } from '../../log/log.js';
import { StalledClients } from './stalled-clients.js';

/** Far more than the socket buffers of a connection hold. */
const LARGE_BYTES = 32 * 1024 * 1024;
/** Bytes that a client reads per step; more than TCP needs to reopen its window. */
const STEP_BYTES = 2 * 1024 * 1024;
const REQUEST = 'GET /large?secret=1 HTTP/1.1\r\nHost: a\r\n\r\n';

const servers: Server[] = [];
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that the test sweeps, unless it sweeps by itself; returns its open connections. */
async function serving(timeoutSeconds: number, listener: RequestListener, { sweepsItself = false } = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = new Log(new SystemClock(), 'debug', (line) => lines.push(JSON.parse(line)));
  const stalled = new StalledClients(timeoutSeconds, log);
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    stalled.watch(response);
    listener(request, response);
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  if (sweepsItself) stalled.endIn(server);
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { stalled, lines, open, port };
}

/** A client that sends a request and reads nothing. */
async function unreading(port: number): Promise<Socket> {
  const client = connect(port, '127.0.0.1');
  clients.push(client);
  client.on('error', () => {});
  client.pause();
  await new Promise<void>((sent) => client.write(REQUEST, () => sent()));
  return client;
}

/** Waits until every client has pending bytes that the network does not accept. */
function allWait(open: ReadonlySet<Socket>, count: number): Promise<void> {
  return eventually(() => open.size === count && [...open].every((socket) => socket.writableLength > 0), {
    withinMs: 10_000,
  });
}

/** Waits until the network has taken no more for a while: nothing says that its buffers are full. */
function isTakenNoMore(open: ReadonlySet<Socket>): Promise<void> {
  const taken = () => [...open].reduce((bytes, socket) => bytes + socket.bytesWritten - socket.writableLength, 0);
  const isQuiet = async () => {
    const before = taken();
    await sleep(200);
    return taken() === before;
  };
  return eventually(isQuiet, { withinMs: 20_000 });
}

/** Streams like the relay: each chunk after the previous one has left. */
const inPieces: RequestListener = (_request, response) => {
  const piece = Buffer.alloc(64 * 1024);
  let leftBytes = LARGE_BYTES;
  const send = () => {
    while (leftBytes > 0) {
      leftBytes -= piece.length;
      if (!response.write(piece)) return;
    }
    response.off('drain', send).end();
  };
  response.on('drain', send);
  send();
};

describe('clients that do not read their answers', () => {
  it('for the whole limit → closed at the next sweep, with one log line without the query', async () => {
    const { stalled, lines, open, port } = await serving(3, inPieces);
    await unreading(port);
    await allWait(open, 1);
    await isTakenNoMore(open);
    for (let sweep = 0; sweep < 3; sweep++) stalled.sweep();
    expect([lines, open.size]).toEqual([[], 1]);
    stalled.sweep();
    await eventually(() => open.size === 0, { withinMs: 10_000 });
    expect(lines).toMatchObject([{ level: 'warn', message: 'client_stalled', path: '/large', method: 'GET' }]);
    stalled.sweep();
    expect(lines).toHaveLength(1);
  });

  it('still sends, a byte at a time → still closed', async () => {
    const { stalled, open, port } = await serving(3, inPieces);
    const client = await unreading(port);
    await allWait(open, 1);
    const isCut = async () => {
      client.write('\r\n');
      await sleep(20);
      stalled.sweep();
      return open.size === 0;
    };
    await eventually(isCut, { withinMs: 10_000 });
  });

  it('reads a little between sweeps → never closed, and receives everything', async () => {
    const { stalled, lines, open, port } = await serving(3, inPieces);
    const client = await unreading(port);
    let bytes = 0;
    let stopAt = 0;
    client.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes >= stopAt) client.pause();
    });
    for (stopAt = STEP_BYTES; stopAt <= LARGE_BYTES / 2; stopAt += STEP_BYTES) {
      await allWait(open, 1);
      stalled.sweep();
      client.resume();
      await eventually(() => bytes >= stopAt, { withinMs: 10_000 });
    }
    stopAt = Number.POSITIVE_INFINITY;
    client.resume();
    await eventually(() => bytes > LARGE_BYTES, { withinMs: 10_000 });
    expect(lines).toEqual([]);
  });

  it('no pending data, however long its answer takes → not closed', async () => {
    let isSent = false;
    const { stalled, lines, open, port } = await serving(1, (_request, response) => {
      response.write('begun', () => {
        isSent = true;
      });
    });
    await unreading(port);
    await eventually(() => isSent, { withinMs: 10_000 });
    for (let sweep = 0; sweep < 10; sweep++) stalled.sweep();
    // A sweep cuts at once.
    expect([lines, [...open].map(({ destroyed }) => destroyed)]).toEqual([[], [false]]);
  });

  it('hundreds stall at once → 256 per sweep, each once', async () => {
    let answered = 0;
    const { stalled, lines, open, port } = await serving(1, (_request, response) => {
      answered++;
      response.write('x');
    });
    const count = 300;
    await Promise.all(Array.from({ length: count }, () => unreading(port)));
    await eventually(() => answered === count, { withinMs: 10_000 });
    // A corked socket sends nothing, so one byte is enough.
    for (const socket of open) {
      socket.cork();
      socket.write('waits');
    }
    stalled.sweep();
    stalled.sweep();
    expect(lines).toHaveLength(256);
    await eventually(() => open.size === count - 256, { withinMs: 10_000 });
    stalled.sweep();
    await eventually(() => open.size === 0, { withinMs: 10_000 });
    expect(lines).toHaveLength(count);
  });

  it('a server that listens → is swept every second', async () => {
    const { open, port } = await serving(1, inPieces, { sweepsItself: true });
    await unreading(port);
    await allWait(open, 1);
    await eventually(() => open.size === 0, { withinMs: 10_000 });
  });
});
