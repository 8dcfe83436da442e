import { once } from 'node:events';
import { createServer, IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { buildConnector, Client, type Dispatcher } from 'undici';
import { heldBy } from '../../../test/support/proxy/counted-holds.js';
import { SystemClock } from '../../common/clock.js';
import { OpenSecrets } from '../../providers/secret-patterns.js';
import { OriginPool } from '../exchange/origin-pool.js';
import type { ProviderCall } from '../exchange/provider-call.js';
import { CallRecord, type CallRecorder } from './call-record.js';
import { Relay } from './relay.js';
import type { RelayParts } from './relay-parts.js';

/** A client that only counts dispatched requests. */
class CountingClient extends Client {
  calls = 0;

  override dispatch(_options: Dispatcher.DispatchOptions, _handler: Dispatcher.DispatchHandler): boolean {
    this.calls++;
    return true;
  }
}

const request = { raw: new IncomingMessage(new Socket()), method: 'POST', headers: {} };

describe('Relay', () => {
  let server: Server;

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

  afterEach(() => {
    server.close();
  });

  it('client that left while its body was judged → no call, the connection is free again, nothing is held', async () => {
    const client = new CountingClient('http://127.0.0.1:9');
    const clock = new SystemClock();
    const pool = new OriginPool(
      'http://127.0.0.1:9',
      { maxConnections: 1, silenceTimeoutMs: 0 },
      buildConnector({}),
      clock,
    );
    const call: Partial<ProviderCall> = {
      credential: 'sk-test-credential',
      accountSecrets: new OpenSecrets(),
      request,
      pool,
    };
    const parts: Partial<RelayParts> = { clock };
    const response = await answerOfClientThatLeft();
    const { holds, ends } = heldBy(7);
    const recorder: Partial<CallRecorder> = {};
    const record = new CallRecord(recorder as CallRecorder, holds);
    new Relay(call as ProviderCall, response, parts as RelayParts, record).start(client);
    expect([client.calls, ends]).toEqual([0, ['released 7']]);
    expect(pool.acquire()).toBe(client);
    await client.destroy();
  });
});
