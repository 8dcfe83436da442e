import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { eventually } from '../../../support/eventually.js';
import { EndpointChain, RESPONSE, RESPONSE_USD } from '../../../support/proxy/endpoint-chain.js';
import type { Answer } from '../../../support/proxy/proxy-client.js';
import { json, type Script, slowHeaders } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const OWN_ERROR = '{"error":{"code":"busy","message":"No."}}';
const KIB = 1024;

let world: World;
let chain: EndpointChain;

beforeAll(async () => {
  // So few connections that one that is not returned makes a later call fail.
  world = await startWorld({ env: { PROVIDER_MAX_CONNECTIONS: '4' } });
});

afterEach(() => chain.stop());

afterAll(() => world.stop());

async function chained(...scripts: Script[]): Promise<EndpointChain> {
  chain = await EndpointChain.create(
    world,
    scripts.map((script) => ({ script })),
  );
  return chain;
}

const failing = json(503, OWN_ERROR);
const serving = json(200, RESPONSE);

describe('one request, one count', () => {
  it('a request that falls back twice → one event, one request in the totals, the price of the target that served', async () => {
    await chained(failing, json(429, OWN_ERROR), serving);
    expect((await chain.call()).status).toBe(200);
    expect(await chain.client.events()).toMatchObject([
      {
        status: 'ok',
        provider_slug: chain.slugs[2],
        route: `${chain.slugs[2]}/v1/responses`,
        endpoint_slug: 'answer',
        input_tokens: 1000,
        output_tokens: 500,
        cost_usd: RESPONSE_USD,
        cost_source: 'computed',
      },
    ]);
    const { body } = await world.api.get(`/v1/admin/apps/${chain.client.appId}/usage`);
    expect(body).toMatchObject({ requests: 1, input_tokens: 1000, cost_usd: RESPONSE_USD });
  });

  it('thirty at once → thirty events, each with its own attempts', async () => {
    await chained(slowHeaders(20, failing), serving);
    const calls = await Promise.all(Array.from({ length: 4 }, () => chain.call()));
    for (let at = 4; at < 30; at++) calls.push(await chain.call());
    expect(calls.every(({ status }) => status === 200)).toBe(true);
    const events = await chain.client.events(30);
    expect(
      events.every(({ provider_slug, cost_usd }) => provider_slug === chain.slugs[1] && cost_usd === RESPONSE_USD),
    ).toBe(true);
    const rows = await world.dataSource.query<{ targets: number }[]>(
      'SELECT json_array_length(attempts) AS targets FROM usage_events WHERE app_id = $1',
      [chain.client.appId],
    );
    expect(rows.map(({ targets }) => targets)).toEqual(Array(30).fill(2));
  });
});

describe('the answer to the client', () => {
  it('the answer after a fallback → the header names of an answer without one, and no trace of either target', async () => {
    await chained(serving);
    const plain = await chain.call();
    await chain.stop();
    const marked = (status: number, mark: string) => json(status, RESPONSE, { 'x-request-id': mark });
    await chained(marked(503, 'of-the-first'), marked(200, 'of-the-second'));
    const answer = await chain.call();
    const names = ({ headers }: Answer) => Object.keys(headers).filter((name) => name !== 'x-request-id');
    expect(names(answer).sort()).toEqual(names(plain).sort());
    expect(answer.headers['x-request-id']).toBe('of-the-second');
    const told = answer.rawHeaders.join('\n') + answer.body.toString();
    for (const secret of [...chain.slugs, ...chain.providerIds, '127.0.0.1', 'of-the-first', 'sk-of-target']) {
      expect(told).not.toContain(secret);
    }
  });
});

describe('a client that disconnects during the first attempt', () => {
  it.each<[string, Script]>([
    ['fails', failing],
    ['dies', ({ socket }) => void socket.destroy()],
  ])('and the first target then %s → no further target is called, one event', async (_name, script) => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const { openRequests } = world.gateway.app.get(Metrics);
    await chained(async (exchange) => {
      await exchange.body();
      await left;
      await script(exchange);
    }, serving);
    const { request } = chain.open();
    await chain.isAsked(0);
    request.destroy();
    await eventually(() => openRequests.of().value === 0, { withinMs: 10_000 });
    resolve();
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[0], client_aborted: 1 }]);
    expect(chain.asked).toEqual([1, 0]);
    expect(await chain.attempts()).toBeNull();
  });
});

describe('connections of targets that failed', () => {
  it.each<[string, string, reused: boolean]>([
    ['a small error', OWN_ERROR, true],
    ['no body', '', true],
    ['8 MiB of error', 'x'.repeat(8 * KIB * KIB), false],
  ])('%s → discarded; reused or not, the next calls are served', async (_name, text, reused) => {
    const sockets = new Set<Socket>();
    await chained((exchange) => {
      sockets.add(exchange.socket);
      return json(503, text)(exchange);
    }, serving);
    for (let at = 0; at < 6; at++) expect((await chain.call()).status).toBe(200);
    expect(sockets.size === 1).toBe(reused);
    expect(chain.upstreams[0]?.openConnections()).toBeLessThanOrEqual(4);
  });

  it('an error body that never ends → does not delay the fallback, and its connection is closed', async () => {
    await chained(async ({ body, response }) => {
      await body();
      response.writeHead(503).write('{"error":');
    }, serving);
    expect((await chain.call()).status).toBe(200);
    expect(chain.upstreams[0]?.openConnections()).toBe(1);
    await eventually(() => chain.upstreams[0]?.openConnections() === 0, { withinMs: 10_000 });
  });
});
