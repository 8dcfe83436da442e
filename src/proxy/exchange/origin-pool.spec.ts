import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { buildConnector, type Client } from 'undici';
import { eventually } from '../../../test/support/eventually.js';
import { Clock } from '../../common/clock.js';
import { OriginPool } from './origin-pool.js';

class ManualClock extends Clock {
  atMs = 0;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

const servers: Server[] = [];
const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function setUp({ max = 10, silenceTimeoutMs = 0, origin = 'http://127.0.0.1:1' } = {}) {
  const clock = new ManualClock();
  const pool = new OriginPool(origin, { maxConnections: max, silenceTimeoutMs }, buildConnector({}), clock);
  const take = () => {
    const client = pool.acquire();
    if (client === undefined) throw new Error('a connection was expected');
    clients.push(client);
    return client;
  };
  return { clock, pool, take };
}

async function provider(listener: RequestListener): Promise<{ origin: string; connections: () => number }> {
  let connections = 0;
  const server = createServer(listener).on('connection', () => connections++);
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

describe('connections to one origin', () => {
  it('two calls at once → a connection each; given back → the last used comes first', () => {
    const { pool, take } = setUp();
    const [first, second] = [take(), take()];
    expect(first).not.toBe(second);
    pool.release(first);
    pool.release(second);
    expect(take()).toBe(second);
    expect(take()).toBe(first);
  });

  it('bound reached → none, until one is given back', () => {
    const { pool, take } = setUp({ max: 2 });
    const [first] = [take(), take()];
    expect(pool.acquire()).toBeUndefined();
    pool.release(first);
    expect(take()).toBe(first);
    expect(pool.acquire()).toBeUndefined();
  });

  it('destroyed connection given back → forgotten, and its place is free', async () => {
    const { pool, take } = setUp({ max: 1 });
    const first = take();
    await first.destroy();
    pool.release(first);
    expect(pool.isEmpty).toBe(true);
    expect(take()).not.toBe(first);
  });

  it('idle for 30 s → closed; younger and busy ones stay', () => {
    const { clock, pool, take } = setUp();
    const [old, young, busy] = [take(), take(), take()];
    pool.release(old);
    clock.atMs = 10_000;
    pool.release(young);
    clock.atMs = 30_000;
    pool.trim();
    expect([old, young, busy].map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    expect(take()).toBe(young);
    expect(pool.isEmpty).toBe(false);
  });

  it('everything idle for long → empty', () => {
    const { clock, pool, take } = setUp();
    expect(pool.isEmpty).toBe(true);
    for (const client of [take(), take()]) pool.release(client);
    clock.atMs = 29_999;
    pool.trim();
    expect(pool.isEmpty).toBe(false);
    clock.atMs = 30_000;
    pool.trim();
    expect(pool.isEmpty).toBe(true);
  });

  it('call after call → one socket', async () => {
    const { origin, connections } = await provider((_request, response) => response.end('ok'));
    const { pool, take } = setUp({ origin });
    for (let call = 0; call < 5; call++) {
      const client = take();
      const { body } = await client.request({ method: 'GET', path: '/' });
      expect(await body.text()).toBe('ok');
      pool.release(client);
    }
    expect(connections()).toBe(1);
  });

  it('socket broken in the middle → the next call gets a new socket', async () => {
    let calls = 0;
    const { origin, connections } = await provider((_request, response) => {
      if (calls++ > 0) response.end('ok');
      else response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    const { pool, take } = setUp({ origin, max: 1 });
    const broken = take();
    const answer = await broken.request({ method: 'GET', path: '/' });
    await expect(answer.body.text()).rejects.toThrow();
    pool.release(broken);
    const { body } = await take().request({ method: 'GET', path: '/' });
    expect(await body.text()).toBe('ok');
    expect(connections()).toBe(2);
  });

  it('body that stops for the time of silence → broken; not while its receiver has paused it', async () => {
    const { origin } = await provider((_request, response) => void response.writeHead(200).write('begun'));
    const call = { method: 'GET', path: '/', highWaterMark: 1 } as const;
    const { body } = await setUp({ origin, silenceTimeoutMs: 500 }).take().request(call);
    const ends: unknown[] = [];
    body.on('error', (error) => ends.push(error));
    // A receiver whose buffer is full pauses its connection.
    await sleep(2_000);
    expect(ends).toEqual([]);
    body.resume();
    await eventually(() => ends.length > 0, { withinMs: 4_000 });
    expect(ends).toMatchObject([{ code: 'UND_ERR_BODY_TIMEOUT' }]);
  });

  it('response headers beyond 64 KiB → refused', async () => {
    const { origin } = await provider((_request, response) =>
      response.writeHead(200, { 'x-a': 'x'.repeat(70_000) }).end(),
    );
    const call = setUp({ origin }).take().request({ method: 'GET', path: '/' });
    await expect(call).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_OVERFLOW' });
  });
});
