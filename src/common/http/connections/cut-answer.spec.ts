import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cutConnection, noteFraming } from './cut-answer.js';

let server: Server;

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

/** The server side of a connection whose HTTP/1.0 request was answered, and how the client sees its end. */
async function answered(): Promise<{ socket: Socket; seen: Promise<string> }> {
  server = createServer((message, response) => {
    noteFraming(message, response);
    response.write('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const seen = new Promise<string>((resolve) => {
    client.on('error', () => resolve('reset')).on('end', () => resolve('closed'));
  });
  client.write('GET / HTTP/1.0\r\n\r\n');
  const [socket] = await once(server, 'connection');
  await once(client, 'data');
  return { socket, seen };
}

describe('cutting the connection of an HTTP/1.0 client (ADR 0030)', () => {
  it('in the middle of its answer → reset, which it does not mistake for the end', async () => {
    const { socket, seen } = await answered();
    cutConnection(socket);
    expect(await seen).toBe('reset');
  });

  it('while it is being closed → destroyed: a reset would fail and leave it open forever', async () => {
    const { socket, seen } = await answered();
    socket.end();
    const isClosed = once(socket, 'close', { signal: AbortSignal.timeout(2_000) });
    cutConnection(socket);
    await isClosed;
    expect(await seen).toBe('closed');
  });
});
