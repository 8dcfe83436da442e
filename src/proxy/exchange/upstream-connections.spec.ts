import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { SystemClock } from '../../common/clock.js';
import { loadEnvironment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { UpstreamConnections } from './upstream-connections.js';

class ManualClock extends SystemClock {
  passedMs = 0;

  override monotonicMs(): number {
    return this.passedMs;
  }
}

function setUp(source: Record<string, string> = {}) {
  const clock = new ManualClock();
  const metrics = new Metrics();
  const connections = new UpstreamConnections(loadEnvironment(source), clock, metrics);
  return { clock, connections, metrics };
}

describe('connections to providers', () => {
  it('one origin → one pool; another scheme, host or port → another', () => {
    const { connections } = setUp();
    const pool = connections.poolFor('https://api.example.com');
    expect(connections.poolFor('https://api.example.com')).toBe(pool);
    for (const other of ['http://api.example.com', 'https://api.example.com:8443', 'https://api.example.org']) {
      expect(connections.poolFor(other)).not.toBe(pool);
    }
  });

  it('PROVIDER_MAX_CONNECTIONS → the bound of each origin by itself', () => {
    const { connections } = setUp({ PROVIDER_MAX_CONNECTIONS: '1' });
    for (const origin of ['https://a.example.com', 'https://b.example.com']) {
      expect(connections.poolFor(origin).acquire()).toBeDefined();
      expect(connections.poolFor(origin).acquire()).toBeUndefined();
    }
  });
});

describe('the gauge of open calls', () => {
  it('connections in use → counted over all origins; given back → not', () => {
    const { connections, metrics } = setUp();
    connections.onModuleInit();
    expect(metrics.openProviderCalls.read()).toBe(0);
    const [one, other] = ['https://a.example.com', 'https://b.example.com'].map((origin) =>
      connections.poolFor(origin),
    );
    const client = one?.acquire();
    one?.acquire();
    other?.acquire();
    expect(metrics.openProviderCalls.read()).toBe(3);
    if (client) one?.release(client);
    expect(metrics.openProviderCalls.read()).toBe(2);
  });
});

describe('idle origins', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  /** The service as a module runs it, with its schedule. */
  async function scheduled() {
    const parts = setUp();
    const providers = [{ provide: UpstreamConnections, useFactory: () => parts.connections }];
    const module = await Test.createTestingModule({ imports: [ScheduleModule.forRoot()], providers }).compile();
    return { ...parts, module: await module.init() };
  }

  it('unused origin → its pool is evicted; one with an open call stays', async () => {
    const { clock, connections, module } = await scheduled();
    const idle = connections.poolFor('https://idle.example.com');
    const busy = connections.poolFor('https://busy.example.com');
    const client = idle.acquire();
    if (client) idle.release(client);
    busy.acquire();
    clock.passedMs = 30_000;
    jest.advanceTimersByTime(9_999);
    expect(connections.poolFor('https://idle.example.com')).toBe(idle);
    jest.advanceTimersByTime(1);
    expect(connections.poolFor('https://idle.example.com')).not.toBe(idle);
    expect(connections.poolFor('https://busy.example.com')).toBe(busy);
    await module.close();
  });

  it('shutdown → no timer left', async () => {
    const { module } = await scheduled();
    expect(jest.getTimerCount()).toBe(1);
    await module.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('dialling', () => {
  let server: Server;
  let origin: string;
  let calls = 0;

  beforeEach(async () => {
    calls = 0;
    server = createServer((_request, response) => {
      calls++;
      response.end('ok');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function call(source: Record<string, string>): Promise<string> {
    const client = setUp(source).connections.poolFor(origin).acquire();
    if (client === undefined) throw new Error('a connection was expected');
    try {
      const { body } = await client.request({ method: 'GET', path: '/' });
      return await body.text();
    } finally {
      await client.destroy();
    }
  }

  it('untrusted private address → refused before a byte is sent', async () => {
    await expect(call({})).rejects.toMatchObject({ code: 'ERR_BLOCKED_ADDRESS' });
    expect(calls).toBe(0);
  });

  it('address the operator trusts → reached', async () => {
    expect(await call({ TRUSTED_PRIVATE_HOSTS: '127.0.0.1' })).toBe('ok');
  });
});
