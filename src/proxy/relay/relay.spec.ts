import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { buildConnector } from 'undici';
import { callOn, socketsRead } from '../../../test/support/proxy/connection-call.js';
import { heldBy } from '../../../test/support/proxy/counted-holds.js';
import { type ScriptedUpstream, startUpstream } from '../../../test/support/proxy/upstream.js';
import { SystemClock } from '../../common/clock.js';
import { OpenSecrets } from '../../providers/secret-patterns.js';
import { OriginPool } from '../connections/origin-pool.js';
import type { ProviderCall } from '../round-trip/provider-call.js';
import { CallRecord, type CallRecorder } from './call-record.js';
import { Relay } from './relay.js';
import type { RelayContext } from './relay-context.js';

const request = { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {} };

describe('Relay', () => {
  let server: Server;
  let upstream: ScriptedUpstream;

  async function answerOfClientThatLeft(): Promise<ServerResponse> {
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
    const [, response]: [unknown, ServerResponse] = (await once(server, 'request')) as [unknown, ServerResponse];
    socket.destroy();
    await once(response, 'close');
    return response;
  }

  beforeEach(async () => {
    upstream = await startUpstream();
  });

  afterEach(async () => {
    server.close();
    await upstream.close();
  });

  it('client that disconnects while its body is checked → no call, the connection is free again, nothing is held', async () => {
    const clock = new SystemClock();
    const bounds = { maxConnections: 1, silenceTimeoutMs: 0 };
    const pool = new OriginPool(upstream.url, bounds, buildConnector({}), clock);
    const connection = pool.acquire();
    if (connection === undefined) throw new Error('a connection was expected');
    await callOn(connection);
    await socketsRead();
    expect(pool.acquire()).toBe(connection);
    upstream.forget();
    const call: Partial<ProviderCall> = {
      credential: 'sk-test-credential',
      accountSecrets: new OpenSecrets(),
      request,
      pool,
    };
    const parts: Partial<RelayContext> = { clock };
    const response = await answerOfClientThatLeft();
    const { holds, ends } = heldBy(7);
    const recorder: Partial<CallRecorder> = {};
    const record = new CallRecord(recorder as CallRecorder, holds);
    new Relay(call as ProviderCall, response, parts as RelayContext, record).start(connection);
    expect([connection.isBusy, ends]).toEqual([false, ['released 7']]);
    await socketsRead();
    expect(pool.acquire()).toBe(connection);
    await callOn(connection, { path: '/next' });
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/next']);
    connection.close();
  });
});
