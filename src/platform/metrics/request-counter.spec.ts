import { once } from 'node:events';
import { createServer, type RequestListener, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { Metrics } from './metrics.js';
import { requestCounter, routeKindOf } from './request-counter.js';

let server: Server;
let metrics: Metrics;

async function serving(answer: RequestListener): Promise<number> {
  metrics = new Metrics();
  const count = requestCounter(metrics);
  server = createServer((message, response) => {
    count(response);
    answer(message, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const ended = () => [...metrics.requests.members()].map(([labels, { value }]) => [...labels, value]);
const open = () => metrics.openRequests.of().value;

async function call(port: number, path: string): Promise<void> {
  const [answer] = await once(request({ port, path, host: '127.0.0.1', agent: false }).end(), 'response');
  answer.resume();
  await once(answer, 'close');
}

describe('requestCounter', () => {
  it('answers of any status → by route and class; our refusals also by code', async () => {
    const port = await serving((message, response) => {
      const status = Number(new URL(message.url ?? '', 'http://x').searchParams.get('status'));
      if (status === 403) message.refusedWith = 'forbidden';
      response.writeHead(status).end();
    });
    for (const [path, status] of [
      ['admin/apps', 200],
      ['admin/apps', 403],
      ['apps/a/proxy/b', 500],
    ] as const)
      await call(port, `/v1/${path}?status=${status}`);
    expect(ended()).toEqual([
      ['admin', '2xx', '', 1],
      ['admin', '4xx', 'forbidden', 1],
      ['proxy', '5xx', '', 1],
    ]);
    expect(open()).toBe(0);
  });

  it('two requests on one connection → counted one by one', async () => {
    const port = await serving((_message, response) => void response.end('x'));
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /a HTTP/1.1\r\nhost: x\r\n\r\nGET /b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect(ended()).toEqual([['other', '2xx', '', 2]]);
  });

  it('a stream → open until it ends; a client that disconnects ends it', async () => {
    const port = await serving((_message, response) => void response.write('first'));
    const call = request({ port, host: '127.0.0.1', agent: false }).end();
    const [answer] = await once(call, 'response');
    expect([open(), ended()]).toEqual([1, []]);
    const closed = once(server, 'connection').catch(() => undefined);
    answer.destroy();
    await untilNoneIsOpen();
    void closed;
    expect(ended()).toEqual([['other', '2xx', '', 1]]);
  });

  it('a client that disconnects before any answer → class none, with the code that it would have received', async () => {
    const arrived = new Promise<number>((resolve) => {
      void serving((message) => {
        message.refusedWith = 'service_unavailable';
        socket.destroy();
      }).then(resolve);
    });
    const socket = connect(await arrived, '127.0.0.1');
    socket.write('GET /v1/apps/a/me HTTP/1.1\r\nhost: x\r\n\r\n');
    await untilNoneIsOpen(1);
    expect(ended()).toEqual([['me', 'none', 'service_unavailable', 1]]);
  });

  it('an answer cut off after its start → the class of its start, without a code', async () => {
    const port = await serving((message, response) => {
      response.writeHead(200).write('x', () => {
        message.refusedWith = 'internal_error';
        response.destroy();
      });
    });
    await call(port, '/v1/apps/a/proxy/b').catch(() => undefined);
    await untilNoneIsOpen(1);
    expect(ended()).toEqual([['proxy', '2xx', '', 1]]);
  });
});

function untilNoneIsOpen(atLeastEnded = 0): Promise<void> {
  return eventually(() => open() === 0 && ended().length >= atLeastEnded, { withinMs: 10_000 });
}

describe('routeKindOf', () => {
  it.each([
    ['/v1/apps/notes-abc123/proxy/openai/v1/responses?x=/me', 'proxy'],
    ['/v1/apps/a/proxy/', 'proxy'],
    ['/v1/apps/a/endpoints/summarize', 'endpoint'],
    ['/v1/apps/a/auth/token', 'auth'],
    ['/v1/apps/a/me', 'me'],
    ['/v1/apps/a/me?x=1', 'me'],
    ['/v1/admin/apps/a/usage', 'admin'],
    ['/v1/admin/x/proxy/y', 'admin'],
    ['/v1/apps/a/men', 'other'],
    ['/v1/apps/a/me/x', 'other'],
    ['/v1/apps/a', 'other'],
    ['/v1/apps/', 'other'],
    ['/v1/apps', 'other'],
    ['/v1/admin', 'other'],
    ['/v1/apps?x=/v1/admin/', 'other'],
    ['/v1/healthz', 'other'],
    ['/metrics', 'other'],
    ['/V1/admin/apps', 'other'],
    ['http://x/v1/admin/apps', 'other'],
    ['*', 'other'],
    ['', 'other'],
  ])('%s → %s', (url, kind) => {
    expect(routeKindOf(url)).toBe(kind);
  });
});
