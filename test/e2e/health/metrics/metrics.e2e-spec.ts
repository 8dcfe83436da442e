import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import request from 'supertest';
import { eventually } from '../../../support/eventually.js';
import { Exposition } from '../../../support/health/metrics/exposition.js';
import { EndpointChain, RESPONSE, RESPONSE_USD, refusingUrl } from '../../../support/proxy/endpoint-chain.js';
import { exchangeBytes, ProxyClient, read } from '../../../support/proxy/proxy-client.js';
import { event, hold, json, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const PATH = 'v1/responses';
const BODY = { model: 'gpt-4.1' };
const TOKEN = 'a-token-of-the-metrics-tests';

let world: World;

async function scraped(of = world, headers: Record<string, string> = {}): Promise<Exposition> {
  const answer = await request(of.baseUrl).get('/metrics').set(headers).expect(200);
  return new Exposition(answer.text);
}

describe('GET /metrics', () => {
  let client: ProxyClient;
  let before: Exposition;

  beforeAll(async () => {
    world = await startWorld();
    client = await ProxyClient.create(world);
  });

  beforeEach(async () => {
    before = await scraped();
  });

  afterAll(() => world.stop());

  /** How much a sum has grown since the test began, once it has grown by the expected amount. */
  async function expectGrown(
    expected: readonly (readonly [name: string, labels: Record<string, string>, by: number])[],
  ): Promise<void> {
    const grown = async () => {
      const after = await scraped();
      return expected.map(([name, labels]) => after.sum(name, labels) - before.sum(name, labels));
    };
    const wanted = expected.map(([, , by]) => by);
    let found: number[] = [];
    await eventually(
      async () => {
        found = await grown();
        return found.every((by, at) => Math.abs(by - (wanted[at] ?? 0)) < 1e-12);
      },
      { withinMs: 10_000 },
    ).catch(() => expect(found).toEqual(wanted));
  }

  it('the text format 0.0.4, never cached, with all documented metrics', async () => {
    const answer = await request(world.baseUrl).get('/metrics').expect(200).expect('cache-control', 'no-store');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const exposition = new Exposition(answer.text);
    for (const name of ['gateway_database_connected', 'gateway_config_notifications_connected', 'gateway_journal_ok'])
      expect([name, exposition.sum(name)]).toEqual([name, 1]);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_heap_used_bytes'])
      expect(exposition.sum(name)).toBeGreaterThan(0);
    expect(exposition.names).toContain('nodejs_eventloop_delay_p99_seconds');
    expect(exposition.sum('process_start_time_seconds')).toBeLessThan(Date.now() / 1000);
    expect(exposition.sum('gateway_requests_open')).toBe(1);
  });

  it('a proxied call → its route, its provider’s answer and time, its tokens and its exact cost', async () => {
    world.upstream.script(json(200, RESPONSE));
    expect((await client.call(PATH, { body: BODY })).status).toBe(200);
    const openai = { provider_type: 'openai' };
    await expectGrown([
      ['gateway_requests_total', { route: 'proxy', status_class: '2xx', code: '' }, 1],
      ['gateway_provider_requests_total', { ...openai, status_class: '2xx' }, 1],
      ['gateway_provider_ttfb_seconds_count', openai, 1],
      ['gateway_tokens_total', { ...openai, kind: 'input' }, 1000],
      ['gateway_tokens_total', { ...openai, kind: 'output' }, 500],
      ['gateway_cost_usd_total', { ...openai, cost_source: 'computed' }, RESPONSE_USD],
      ['gateway_refusals_total', {}, 0],
    ]);
    await client.events();
    await expectGrown([['gateway_usage_events_pending', {}, 0]]);
  });

  it('a provider’s own error → a 4xx without a gateway code', async () => {
    world.upstream.script(json(404, { error: { code: 'theirs' } }));
    await client.call(PATH, { body: BODY });
    await expectGrown([
      ['gateway_requests_total', { route: 'proxy', status_class: '4xx', code: '' }, 1],
      ['gateway_provider_requests_total', { provider_type: 'openai', status_class: '4xx' }, 1],
    ]);
  });

  it('gateway refusals on every kind of route → by code', async () => {
    await client.call(PATH, { body: BODY, credential: ['authorization', 'Bearer wrong'] });
    await client.call(PATH, { body: '{' });
    await world.as('gw_mgmt_0123456789012345678901').get('/v1/admin/apps');
    await world.as(undefined).get(`/v1/apps/${client.appId}/me`);
    await world.as(undefined).post('/v1/apps/nobody/auth/token', {});
    await world.as(client.key).post(`/v1/apps/${client.appId}/endpoints/none`, {});
    await world.as(undefined).get('/nowhere');
    const requests = 'gateway_requests_total';
    await expectGrown([
      [requests, { route: 'proxy', status_class: '4xx', code: 'auth_required' }, 1],
      [requests, { route: 'proxy', status_class: '4xx', code: 'invalid_request' }, 1],
      [requests, { route: 'admin', status_class: '4xx', code: 'auth_required' }, 1],
      [requests, { route: 'me', status_class: '4xx', code: 'auth_required' }, 1],
      [requests, { route: 'auth', status_class: '4xx', code: 'app_not_found' }, 1],
      [requests, { route: 'endpoint', status_class: '4xx', code: 'endpoint_not_found' }, 1],
      [requests, { route: 'other', status_class: '4xx', code: 'invalid_request' }, 1],
      ['gateway_refusals_total', { code: 'auth_required' }, 3],
      ['gateway_refusals_total', {}, 7],
      ['gateway_log_events_total', { event: 'gateway_error' }, 7],
      ['gateway_provider_requests_total', {}, 0],
    ]);
  });

  it('non-HTTP input → a refusal without a request', async () => {
    await exchangeBytes(world, 'hello\r\n\r\n');
    await expectGrown([['gateway_refusals_total', { code: 'invalid_request' }, 1]]);
  });

  it('a provider that cannot be reached → class none, a gateway refusal, and no duration', async () => {
    const away = await ProxyClient.create(world, { provider: { type: 'xai', baseUrl: await refusingUrl() } });
    await away.call(PATH, { body: { model: 'grok-4' } });
    await expectGrown([
      ['gateway_provider_requests_total', { provider_type: 'xai', status_class: 'none' }, 1],
      ['gateway_requests_total', { route: 'proxy', status_class: '5xx', code: 'provider_error' }, 1],
      ['gateway_provider_ttfb_seconds_count', { provider_type: 'xai' }, 0],
    ]);
  });

  it('a fallback → counted once; two provider answers, one request', async () => {
    const chain = await EndpointChain.create(world, [{ script: json(503, {}) }, {}]);
    expect((await chain.call()).status).toBe(200);
    await expectGrown([
      ['gateway_fallbacks_total', {}, 1],
      ['gateway_provider_requests_total', { status_class: '5xx' }, 1],
      ['gateway_provider_requests_total', { status_class: '2xx' }, 1],
      ['gateway_requests_total', { route: 'endpoint' }, 1],
      ['gateway_cost_usd_total', {}, RESPONSE_USD],
    ]);
    await chain.stop();
  });

  it('open streams → gauges of requests, provider calls and admissions, until they end', async () => {
    const held = hold(event({ type: 'response.created' }));
    world.upstream.script(held.script);
    const calls = [1, 2].map(() => client.open(PATH, { body: { ...BODY, stream: true } }));
    const heads = await Promise.all(calls.map(({ head }) => head));
    const gauges = ['gateway_requests_open', 'gateway_provider_calls_open', 'gateway_usage_admissions_open'];
    await expectGrown(gauges.map((name) => [name, {}, 2]));
    held.release();
    await Promise.all(heads.map((head) => read(head)));
    await expectGrown(gauges.map((name) => [name, {}, 0]));
  });

  it('a client that disconnects during a stream → its request ends with the class of its start', async () => {
    world.upstream.script(sse([event('a'), event('[DONE]')], { delayMs: 300 }));
    const { request: call, head } = client.open(PATH, { body: { ...BODY, stream: true } });
    await head;
    call.destroy();
    await expectGrown([
      ['gateway_requests_total', { route: 'proxy', status_class: '2xx' }, 1],
      ['gateway_requests_open', {}, 0],
      ['gateway_cost_usd_total', { cost_source: 'computed' }, 0],
    ]);
  });

  it('labels → no id of an account, an application, a provider or a user', async () => {
    const { text } = await request(world.baseUrl).get('/metrics');
    for (const id of [client.appId, client.slug, client.providerId, 'gpt-4.1', 'chain-'])
      expect(text).not.toContain(id);
  });

  /** The number of queries of a request; background queries of the service are not counted. */
  async function questionsOf(path: string): Promise<number> {
    const cause = new AsyncLocalStorage<string>();
    const mark = ({ url }: { url?: string }) => cause.enterWith(url ?? '');
    let questions = 0;
    const counted = <T extends unknown[], R>(ask: (...of: T) => R) =>
      function (this: unknown, ...of: T): R {
        if (cause.getStore() === path) questions++;
        return ask.apply(this, of);
      };
    const { requestDataSource: dataSource } = world;
    const { query, createQueryRunner } = dataSource;
    const spies = [
      jest.spyOn(dataSource, 'query').mockImplementation(counted(query)),
      jest.spyOn(dataSource, 'createQueryRunner').mockImplementation(counted(createQueryRunner)),
    ];
    const server = world.gateway.app.getHttpServer().prependListener('request', mark);
    await request(world.baseUrl).get(path).set('authorization', `Bearer ${world.managementKey}`).expect(200);
    server.off('request', mark);
    for (const spy of spies) spy.mockRestore();
    return questions;
  }

  it('a scrape → no database query', async () => {
    expect(await questionsOf('/v1/admin/providers')).toBeGreaterThan(0);
    expect(await questionsOf('/metrics')).toBe(0);
  });
});

describe('who may scrape', () => {
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  it.each(['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])('a proxy on this machine (%s) → 403', async (name) => {
    const answer = await request(world.baseUrl).get('/metrics').set(name, '127.0.0.1').expect(403);
    expect(answer.body.error.code).toBe('forbidden');
  });

  it('a remote peer, whatever it claims → 403', async () => {
    const server = world.gateway.app.getHttpServer();
    const disguise = (socket: object) => Object.defineProperty(socket, 'remoteAddress', { value: '203.0.113.7' });
    server.prependListener('connection', disguise);
    for (const headers of [
      {},
      { 'x-forwarded-for': '127.0.0.1' },
      { authorization: `Bearer ${world.managementKey}` },
    ]) {
      await request(world.baseUrl).get('/metrics').set(headers).set('connection', 'close').expect(403);
    }
    server.off('connection', disguise);
    await request(world.baseUrl).get('/metrics').set('connection', 'close').expect(200);
  });
});

describe('METRICS_TOKEN', () => {
  beforeAll(async () => {
    world = await startWorld({ env: { METRICS_TOKEN: TOKEN } });
  });
  afterAll(() => world.stop());

  it('the token → the metrics, even through a proxy', async () => {
    await scraped(world, { authorization: `Bearer ${TOKEN}` });
    await scraped(world, { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.7' });
  });

  it.each([
    ['none', {}],
    ['another', { authorization: `Bearer ${TOKEN}x` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
  ])('%s → 401 with a challenge, even from this machine', async (_name, headers) => {
    const answer = await request(world.baseUrl).get('/metrics').set(headers).expect(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="metrics"');
    expect(answer.body.error.code).toBe('auth_required');
  });

  it('a management key → 401', async () => {
    expect((await world.api.get('/metrics')).status).toBe(401);
  });

  it('log → never contains the token', () => {
    expect(JSON.stringify(world.logs)).not.toContain(TOKEN);
  });
});
