import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { buildConnector } from 'undici';
import { FakeClock } from '../../../test/support/clock.js';
import { eventually } from '../../../test/support/eventually.js';
import { callOn, socketsRead } from '../../../test/support/proxy/connection-call.js';
import { OriginPool } from './origin-pool.js';
import type { ProviderConnection } from './provider-connection.js';

const servers: Server[] = [];
const connections: ProviderConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A provider that states no keep-alive time, unless its answers do. */
async function provider(listener: RequestListener = (_request, response) => response.end('ok')) {
  const sockets: Socket[] = [];
  const server = createServer(listener).on('connection', (socket) => sockets.push(socket));
  server.keepAliveTimeout = 0;
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** A provider that allows idle connections for the number of seconds in the request path. */
const stating: RequestListener = ({ url }, response) => {
  const seconds = url?.slice(1);
  if (seconds) response.setHeader('keep-alive', `timeout=${seconds}`);
  response.end('ok');
};

function setUp(origin: string, { max = 10, silenceTimeoutMs = 0 } = {}) {
  const clock = new FakeClock();
  const pool = new OriginPool(origin, { maxConnections: max, silenceTimeoutMs }, buildConnector({}), clock);
  const take = () => {
    const connection = pool.acquire();
    if (connection === undefined) throw new Error('a connection was expected');
    connections.push(connection);
    return connection;
  };
  /** Connections that have answered one call each and are free. */
  const used = async (...paths: string[]) => {
    const taken = paths.map(take);
    await Promise.all(taken.map((connection, at) => callOn(connection, { path: paths[at] ?? '/' })));
    await socketsRead();
    return taken;
  };
  return { clock, pool, take, used };
}

const open = (taken: readonly ProviderConnection[]) => taken.map(({ isOpen }) => isOpen);

describe('connections to one origin', () => {
  it('two calls at once → one connection each; ended → the most recently used comes first', async () => {
    const { origin } = await provider();
    const { take } = setUp(origin);
    const [first, second] = [take(), take()];
    expect(first).not.toBe(second);
    await callOn(first);
    await callOn(second);
    await socketsRead();
    expect(take()).toBe(second);
    expect(take()).toBe(first);
  });

  it('bound reached → none until a call ends', async () => {
    const { origin } = await provider();
    const { pool, take } = setUp(origin, { max: 2 });
    const [first] = [take(), take()];
    expect(pool.acquire()).toBeUndefined();
    await callOn(first);
    await socketsRead();
    expect(take()).toBe(first);
    expect(pool.acquire()).toBeUndefined();
  });

  it('bound reached by a call that has just ended → its connection is replaced by a new one', async () => {
    const { origin, sockets } = await provider();
    const { pool, take } = setUp(origin, { max: 1 });
    const first = take();
    const next = await callOn(first).then(take);
    expect([next === first, first.isOpen, pool.busy]).toEqual([false, false, 1]);
    expect((await callOn(next)).body.toString()).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  it.each<[string, (connection: ProviderConnection) => Promise<unknown>]>([
    ['released without a call', async (connection) => connection.release()],
    [
      'released in the middle of its call',
      (connection) => {
        const call = callOn(connection);
        connection.release();
        return call.catch(() => undefined);
      },
    ],
    ['closed after its call', (connection) => callOn(connection).then(() => connection.close())],
    ['closed by its provider after its call', (connection) => callOn(connection, { headers: ['x-ends', '1'] })],
    [
      'whose call was aborted',
      (connection) => {
        const call = callOn(connection);
        connection.abort(new Error('enough'));
        return call.catch(() => undefined);
      },
    ],
  ])('connection %s → removed, and its place is free', async (_name, use) => {
    const { origin } = await provider(({ headers }, response) => {
      if (headers['x-ends']) response.setHeader('connection', 'close');
      response.end('ok');
    });
    const { pool, take } = setUp(origin, { max: 1 });
    const first = take();
    await use(first);
    await socketsRead();
    pool.trim();
    expect([pool.isEmpty, pool.busy, first.isOpen]).toEqual([true, 0, false]);
    const next = take();
    expect(next).not.toBe(first);
    expect(pool.acquire()).toBeUndefined();
    expect((await callOn(next)).body.toString()).toBe('ok');
  });

  it('replaced connection that its holder releases → its place is freed only once', () => {
    const { pool, take } = setUp('http://127.0.0.1:9', { max: 1 });
    const closed = take();
    closed.close();
    const renewed = pool.renew(closed);
    closed.release();
    expect([pool.busy, pool.acquire()]).toEqual([1, undefined]);
    renewed.release();
    expect([pool.busy, pool.isEmpty]).toEqual([0, true]);
  });

  it('idle for 15 s → closed; more recent and busy ones stay', async () => {
    const { origin } = await provider();
    const { clock, pool, take, used } = setUp(origin);
    await used('/', '/', '/');
    const [old, young, busy] = [take(), take(), take()];
    await callOn(old);
    clock.advance(10_000);
    await callOn(young);
    await socketsRead();
    clock.advance(4_999);
    pool.trim();
    expect(open([old, young, busy])).toEqual([true, true, true]);
    clock.advance(1);
    pool.trim();
    expect(open([old, young, busy])).toEqual([false, true, true]);
    expect(pool.busy).toBe(1);
    expect(take()).toBe(young);
    expect(pool.isEmpty).toBe(false);
  });

  it('five minutes old → not reused, however busy; its last call is not affected', async () => {
    const { origin } = await provider();
    const { clock, pool, take } = setUp(origin);
    const connection = take();
    await callOn(connection);
    await socketsRead();
    for (let minute = 0; minute < 29; minute++) {
      clock.advance(10_000);
      expect(take()).toBe(connection);
      await callOn(connection);
      await socketsRead();
    }
    expect(take()).toBe(connection);
    clock.advance(10_000);
    expect((await callOn(connection)).body.toString()).toBe('ok');
    await socketsRead();
    expect(take()).not.toBe(connection);
    expect(connection.isOpen).toBe(false);
    pool.trim();
  });

  it('all connections idle for long → empty pool', async () => {
    const { origin, sockets } = await provider();
    const { clock, pool, used } = setUp(origin);
    expect(pool.isEmpty).toBe(true);
    await used('/', '/');
    clock.advance(14_999);
    pool.trim();
    expect(pool.isEmpty).toBe(false);
    clock.advance(1);
    pool.trim();
    expect(pool.isEmpty).toBe(true);
    await eventually(() => sockets.every(({ destroyed }) => destroyed), { withinMs: 10_000 });
  });

  it.each([
    ['/5', 3_000],
    ['/60', 30_000],
  ])('provider that states its keep-alive time: %s seconds → closed after %i ms', async (path, idleMs) => {
    const { origin } = await provider(stating);
    const { clock, pool, take, used } = setUp(origin);
    const [connection] = await used(path);
    clock.advance(idleMs - 1);
    pool.trim();
    expect(take()).toBe(connection);
    connection?.release();
    await socketsRead();
    clock.advance(1);
    pool.trim();
    expect([pool.isEmpty, connection?.isOpen]).toEqual([true, false]);
  });

  it('connection idle for its maximum time → not reused, even before it is trimmed; the next one is', async () => {
    const { origin } = await provider(stating);
    const { clock, pool, take, used } = setUp(origin, { max: 2 });
    const [long] = await used('/');
    expect(take()).toBe(long);
    const short = take();
    long?.release();
    await callOn(short, { path: '/5' });
    await socketsRead();
    clock.advance(3_000);
    expect(take()).toBe(long);
    expect(short.isOpen).toBe(false);
    expect([long, short]).not.toContain(take());
    expect(pool.acquire()).toBeUndefined();
  });

  it('idle connection that its provider has closed → not reused; the next one is', async () => {
    const { origin, sockets } = await provider();
    const { pool, take } = setUp(origin, { max: 2 });
    const [kept, closed] = [take(), take()];
    await callOn(kept);
    await callOn(closed);
    sockets[1]?.end();
    await eventually(() => !closed.isOpen, { withinMs: 10_000 });
    expect(take()).toBe(kept);
    expect([kept, closed]).not.toContain(take());
    expect(pool.acquire()).toBeUndefined();
  });

  it('all idle connections closed by their provider → removed by the next trim', async () => {
    const { origin, sockets } = await provider();
    const { pool, used } = setUp(origin);
    const idle = await used('/', '/');
    for (const socket of sockets) socket.destroy();
    await eventually(() => !idle.some(({ isOpen }) => isOpen), { withinMs: 10_000 });
    pool.trim();
    expect(pool.isEmpty).toBe(true);
  });

  it('call after call → one socket', async () => {
    const { origin, sockets } = await provider();
    const { take } = setUp(origin);
    for (let call = 0; call < 5; call++) {
      const connection = take();
      expect((await callOn(connection)).body.toString()).toBe('ok');
      await socketsRead();
    }
    expect(sockets).toHaveLength(1);
  });

  it('second answer that arrives after the first, before the next request → its connection is not reused', async () => {
    const { origin, sockets } = await provider();
    const { pool, take } = setUp(origin, { max: 1 });
    const first = take();
    await callOn(first);
    sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nforeign');
    await eventually(() => !first.isOpen, { withinMs: 10_000 });
    const next = take();
    expect(next).not.toBe(first);
    expect(pool.acquire()).toBeUndefined();
    expect((await callOn(next)).body.toString()).toBe('ok');
  });

  it('call that ended in the same turn → its connection is not reused yet', async () => {
    const { origin } = await provider();
    const { take } = setUp(origin);
    const first = take();
    const next = await callOn(first).then(take);
    expect(next).not.toBe(first);
    await socketsRead();
    expect(take()).toBe(first);
  });

  it('connection with a call → no second call; released connection → no call for its last holder', async () => {
    const { origin } = await provider();
    const { take } = setUp(origin);
    const connection = take();
    const call = callOn(connection);
    await expect(callOn(connection)).rejects.toThrow('not free');
    expect((await call).body.toString()).toBe('ok');
    await expect(callOn(connection)).rejects.toThrow('not free');
    connection.release();
    await socketsRead();
    expect([take(), take()].filter((taken) => taken === connection)).toHaveLength(1);
  });

  it('socket that breaks during a call → the next call gets a new socket', async () => {
    let calls = 0;
    const { origin, sockets } = await provider((_request, response) => {
      if (calls++ > 0) response.end('ok');
      else response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy());
    });
    const { take } = setUp(origin, { max: 1 });
    const broken = take();
    await expect(callOn(broken)).rejects.toMatchObject({ code: 'closed' });
    expect((await callOn(take())).body.toString()).toBe('ok');
    expect(sockets).toHaveLength(2);
  });

  it('body that stalls beyond the silence limit → connection closed; not while its receiver has paused it', async () => {
    const { origin } = await provider((_request, response) => void response.writeHead(200).write('begun'));
    const { take } = setUp(origin, { silenceTimeoutMs: 500 });
    const connection = take();
    const [pieces, ends]: [Buffer[], unknown[]] = [[], []];
    connection.send(
      { method: 'GET', path: '/', headers: [], body: undefined, ttfbTimeoutMs: 0 },
      {
        onSend: () => undefined,
        onHead: () => undefined,
        onBytes: (bytes) => {
          pieces.push(bytes);
          connection.pause();
        },
        onEnd: () => void ends.push('end'),
        onFailure: (error) => void ends.push(error),
      },
    );
    await eventually(() => pieces.length > 0, { withinMs: 10_000 });
    // A silence timer, if it ran, would fire before this one.
    await sleep(1_200);
    expect(ends).toEqual([]);
    connection.resume();
    await sleep(300);
    expect(ends).toEqual([]);
    await eventually(() => ends.length > 0, { withinMs: 10_000 });
    expect(ends).toMatchObject([{ code: 'silent' }]);
    expect(connection.isOpen).toBe(false);
  });

  it('response headers beyond 64 KiB → refused', async () => {
    const { origin } = await provider((_request, response) =>
      response.writeHead(200, { 'x-a': 'x'.repeat(70_000) }).end(),
    );
    await expect(callOn(setUp(origin).take())).rejects.toMatchObject({ code: 'head_too_large' });
  });
});
