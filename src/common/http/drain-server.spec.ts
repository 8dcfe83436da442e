import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { drainServer } from './drain-server.js';

let clock: FakeClock;
const servers: Server[] = [];

beforeEach(() => {
  clock = new FakeClock();
});

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

describe('draining a server', () => {
  it('open response → finishes completely; new connections are refused meanwhile', async () => {
    let end = () => {};
    const { server, url, port } = await listening((_request, response) => {
      response.write('first ');
      end = () => void response.end('last');
    });
    const answer = await fetch(url);
    const drained = drainServer(server, 10_000, clock);
    const refused = new Promise((resolve) => connect(port, '127.0.0.1').on('error', resolve));
    expect(await refused).toMatchObject({ code: 'ECONNREFUSED' });
    end();
    expect(await answer.text()).toBe('first last');
    // Its time does not pass, so only the end of the answer can end it.
    await drained;
  });

  it('response that exceeds the time → abandoned at the deadline, still open for the caller to cut', async () => {
    const { server, url } = await listening((_request, response) => void response.write('never ends'));
    const answer = await fetch(url);
    let isOver = false;
    const drained = drainServer(server, 150, clock).then(() => {
      isOver = true;
    });
    for (let passed = 0; passed < 150; passed += 30) {
      // The service checks every 25 ms, by a timer that was set before this one.
      await sleep(30);
      expect(isOver).toBe(false);
      clock.advance(30);
    }
    await drained;
    server.closeAllConnections();
    await expect(answer.text()).rejects.toThrow();
  });

  it('kept-alive connection that becomes idle → closed without waiting', async () => {
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
    await drainServer(server, 0, clock);
    expect(clock.monotonicMs()).toBe(0);
    server.closeAllConnections();
    await expect(answer.text()).rejects.toThrow();
  });
});
