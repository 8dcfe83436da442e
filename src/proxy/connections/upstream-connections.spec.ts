import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { FakeClock } from '../../../test/support/clock.js';
import { callOn, socketsRead } from '../../../test/support/proxy/connection-call.js';
import { type ScriptedUpstream, startUpstream } from '../../../test/support/proxy/upstream.js';
import { json } from '../../../test/support/proxy/upstream-scripts.js';
import { loadEnvironment } from '../../platform/config/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { OwnAddresses } from '../../platform/outbound/own-addresses.js';
import type { OriginPool } from './origin-pool.js';
import type { ProviderConnection } from './provider-connection.js';
import { type PoolOwner, UpstreamConnections } from './upstream-connections.js';

const TRUSTED = { TRUSTED_PRIVATE_HOSTS: '127.0.0.1' };

let upstream: ScriptedUpstream;

beforeEach(async () => {
  upstream = await startUpstream({ script: json(200, 'ok') });
});

afterEach(() => upstream.close());

function setUp(source: Record<string, string> = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const connections = new UpstreamConnections(loadEnvironment(source), clock, metrics, new OwnAddresses(undefined));
  return { clock, connections, metrics };
}

/** An instance with a base URL at this origin. */
function at(origin: string, id = 'one'): PoolOwner {
  return { id, baseUrl: { origin } };
}

function acquired(pool: OriginPool): ProviderConnection {
  const connection = pool.acquire();
  if (connection === undefined) throw new Error('a connection was expected');
  return connection;
}

describe('connections to providers', () => {
  it('one instance and origin → one pool; another scheme, host, port or instance → another', () => {
    const { connections } = setUp();
    const pool = connections.poolFor(at('https://api.example.com'));
    expect(connections.poolFor(at('https://api.example.com'))).toBe(pool);
    for (const other of ['http://api.example.com', 'https://api.example.com:8443', 'https://api.example.org']) {
      expect(connections.poolFor(at(other))).not.toBe(pool);
    }
    expect(connections.poolFor(at('https://api.example.com', 'other'))).not.toBe(pool);
  });

  it('PROVIDER_MAX_CONNECTIONS → limits each instance separately', () => {
    const { connections } = setUp({ PROVIDER_MAX_CONNECTIONS: '1' });
    for (const id of ['one', 'other']) {
      const pool = connections.poolFor(at('https://a.example.com', id));
      expect(pool.acquire()).toBeDefined();
      expect(pool.acquire()).toBeUndefined();
    }
  });
});

describe('the gauge of open calls', () => {
  it('connections in use → counted over all pools; released → not counted', () => {
    const { connections, metrics } = setUp();
    connections.onModuleInit();
    expect(metrics.openProviderCalls.read()).toBe(0);
    const [one, other] = ['https://a.example.com', 'https://b.example.com'].map((origin) =>
      connections.poolFor(at(origin)),
    );
    const connection = one?.acquire();
    one?.acquire();
    other?.acquire();
    expect(metrics.openProviderCalls.read()).toBe(3);
    connection?.release();
    expect(metrics.openProviderCalls.read()).toBe(2);
  });

  it('connection that is open and idle → not counted', async () => {
    const { connections, metrics } = setUp(TRUSTED);
    connections.onModuleInit();
    const pool = connections.poolFor(at(upstream.url));
    const connection = acquired(pool);
    await callOn(connection);
    expect(metrics.openProviderCalls.read()).toBe(0);
    await socketsRead();
    expect(acquired(pool)).toBe(connection);
    expect(metrics.openProviderCalls.read()).toBe(1);
    connection.release();
    expect([metrics.openProviderCalls.read(), pool.isEmpty]).toEqual([0, false]);
    connection.close();
  });
});

describe('idle origins', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  /** The service as a module runs it, with its schedule. */
  async function scheduled() {
    const parts = setUp(TRUSTED);
    const providers = [{ provide: UpstreamConnections, useFactory: () => parts.connections }];
    const module = await Test.createTestingModule({ imports: [ScheduleModule.forRoot()], providers }).compile();
    return { ...parts, module: await module.init() };
  }

  it('unused origin → its pool is evicted once its connections have been idle; a pool with an open call stays', async () => {
    const { clock, connections, module } = await scheduled();
    const idle = connections.poolFor(at(upstream.url));
    const busy = connections.poolFor(at('https://busy.example.com'));
    const connection = acquired(idle);
    await callOn(connection);
    await socketsRead();
    busy.acquire();
    // The provider states a minute; half of one is used.
    clock.advance(29_999);
    jest.advanceTimersByTime(10_000);
    expect([connections.poolFor(at(upstream.url)) === idle, connection.isOpen]).toEqual([true, true]);
    clock.advance(1);
    jest.advanceTimersByTime(9_999);
    expect(connections.poolFor(at(upstream.url))).toBe(idle);
    jest.advanceTimersByTime(1);
    expect(connections.poolFor(at(upstream.url))).not.toBe(idle);
    expect(connections.poolFor(at('https://busy.example.com'))).toBe(busy);
    expect(connection.isOpen).toBe(false);
    await module.close();
  });

  it('origin whose connections were never opened → its pool is evicted', async () => {
    const { connections, module } = await scheduled();
    const pool = connections.poolFor(at('https://idle.example.com'));
    acquired(pool).release();
    jest.advanceTimersByTime(10_000);
    expect(connections.poolFor(at('https://idle.example.com'))).not.toBe(pool);
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
  async function call(source: Record<string, string>): Promise<string> {
    const connection = acquired(setUp(source).connections.poolFor(at(upstream.url)));
    try {
      return (await callOn(connection)).body.toString();
    } finally {
      connection.close();
    }
  }

  it('untrusted private address → refused before a byte is sent', async () => {
    await expect(call({})).rejects.toMatchObject({ code: 'ERR_BLOCKED_ADDRESS' });
    expect([upstream.requests, upstream.openConnections()]).toEqual([[], 0]);
  });

  it('address the operator trusts → reached', async () => {
    expect(await call(TRUSTED)).toBe('ok');
  });
});
