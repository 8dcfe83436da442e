import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../clock.js';
import { drainServer } from './drain-server.js';

const clock = new SystemClock();
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function listening(listener: RequestListener): Promise<{ server: Server; url: string; port: number }> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/` };
}

async function elapsedMs(work: Promise<void>): Promise<number> {
  const startedMs = clock.monotonicMs();
  await work;
  return clock.monotonicMs() - startedMs;
}

describe('draining a server', () => {
  it('open response → finishes whole; new connections are refused meanwhile', async () => {
    const { server, url, port } = await listening((_request, response) => {
      response.write('first ');
      setTimeout(() => response.end('last'), 200);
    });
    const answer = await fetch(url);
    const drained = elapsedMs(drainServer(server, 10_000, clock));
    const refused = new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
    expect(await answer.text()).toBe('first last');
    expect(await drained).toBeLessThan(5_000);
  });

  it('response that exceeds the time → abandoned at the deadline, still open for the caller to cut', async () => {
    const { server, url } = await listening((_request, response) => void response.write('never ends'));
    const answer = await fetch(url);
    const tookMs = await elapsedMs(drainServer(server, 150, clock));
    expect(tookMs).toBeGreaterThanOrEqual(150);
    expect(tookMs).toBeLessThan(5_000);
    server.closeAllConnections();
    await expect(answer.text()).rejects.toThrow();
  });

  it('kept-alive connection that falls idle → closed, not waited for', async () => {
    const { server, port } = await listening((_request, response) => response.end('done'));
    server.keepAliveTimeout = 60_000;
    const socket = connect(port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    await drainServer(server, 10_000, clock);
    await closed;
  });

  it('no time to wait → returns at once', async () => {
    const { server, url } = await listening((_request, response) => void response.write('open'));
    const answer = await fetch(url);
    expect(await elapsedMs(drainServer(server, 0, clock))).toBeLessThan(1_000);
    server.closeAllConnections();
    await expect(answer.text()).rejects.toThrow();
  });
});
