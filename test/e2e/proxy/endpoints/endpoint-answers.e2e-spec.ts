import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UsageRefusals } from '../../../../src/usage/recording/usage-refusals.service.js';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { read, refusalOf } from '../../../support/proxy/proxy-client.js';
import { dieAfter, event, hold, json, redirect, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const USAGE = { input_tokens: 1200, input_tokens_details: { cached_tokens: 200 }, output_tokens: 300 };
/** 1000 × 2, 200 × 0.50 and 300 × 8 dollars per million. */
const USD = 0.0045;
const ANSWER = { id: 'resp_1', object: 'response', usage: USAGE };
const TIMING = /^auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=\d+\.\d$/;

const CREATED = event({ type: 'response.created', response: { id: 'resp_1' } });
const DELTA = event({ type: 'response.output_text.delta', delta: 'Hel' });
const COMPLETED = event({ type: 'response.completed', response: { id: 'resp_1', usage: USAGE } });

let world: World;
let client: EndpointClient;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(async () => {
  client = await EndpointClient.create(world, { endpoint: { params: { instructions: 'Be brief.' } } });
  world.upstream.forget();
  world.upstream.script(json(200, ANSWER));
});

afterAll(() => world.stop());

const STREAMED = { body: { input: 'Hi', stream: true } };

describe('answers of a named endpoint', () => {
  it('not streamed → the provider’s own bytes and headers, with Server-Timing and nothing that names the provider', async () => {
    const headers = { 'x-request-id': 'req_1', 'openai-organization': 'org', 'set-cookie': 'a=b' };
    world.upstream.script(json(200, '{ "id": 1.0 }', headers));
    const answer = await client.call();
    expect([answer.status, answer.body.toString(), answer.isComplete]).toEqual([200, '{ "id": 1.0 }', true]);
    const { date, connection, 'content-length': length, 'server-timing': timing, ...relayed } = answer.headers;
    expect([timing, relayed]).toEqual([
      expect.stringMatching(TIMING),
      { 'content-type': 'application/json', 'x-request-id': 'req_1', 'x-content-type-options': 'nosniff' },
    ]);
    expect(JSON.stringify([answer.rawHeaders])).not.toMatch(/gpt-4\.1|endpoint-\d/);
  });

  it('stream: true → head with Server-Timing and each event as it arrives, byte for byte', async () => {
    const stream = hold(CREATED);
    world.upstream.script(stream.script);
    const head = await client.open(STREAMED).head;
    expect([head.statusCode, head.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(head.headers['server-timing']).toMatch(TIMING);
    const first = await new Promise((resolve) => head.once('data', resolve));
    expect([String(first), stream.open()]).toEqual([CREATED, 1]);
    stream.release(DELTA + COMPLETED);
    expect((await read(head)).body.toString()).toBe(DELTA + COMPLETED);
    expect(JSON.parse(world.upstream.requests[0]?.body.toString() ?? '')).toMatchObject({ stream: true });
    expect(await client.proxy.events()).toMatchObject([{ status: 'ok', cost_usd: USD, cost_source: 'computed' }]);
  });

  it('a stream in irregular chunks → the same bytes', async () => {
    const text = `: hello\r\n\r\n${CREATED}${DELTA.repeat(50)}${COMPLETED}`;
    const pieces = text.match(/[\s\S]{1,37}/g) ?? [];
    world.upstream.script(sse(pieces));
    expect((await client.call(STREAMED)).body.toString()).toBe(text);
  });

  it('a stream that breaks off → cut off, so that it does not look complete, and recorded as provider_error', async () => {
    world.upstream.script(dieAfter(CREATED.length + 10, CREATED + DELTA));
    const answer = await client.call(STREAMED);
    expect([answer.status, answer.isComplete]).toEqual([200, false]);
    expect(await client.proxy.events()).toMatchObject([{ status: 'provider_error', endpoint_slug: 'answer' }]);
  });

  it.each([400, 401, 403, 404, 422, 429, 500, 503, 529])(
    'the provider’s own %d → relayed unchanged, recorded as a provider_error without cost',
    async (status) => {
      const body = `{ "error": {"message":"its own", "code": null,"status":${status}} }`;
      world.upstream.script(json(status, body, { 'retry-after': '7', 'x-request-id': 'req_9' }));
      const answer = await client.call();
      expect([answer.status, answer.body.toString()]).toEqual([status, body]);
      expect(answer.headers).toMatchObject({ 'retry-after': '7', 'x-request-id': 'req_9' });
      expect(await client.proxy.events()).toMatchObject([
        { status: 'provider_error', cost_usd: 0, input_tokens: 0, endpoint_slug: 'answer', attempts: null },
      ]);
    },
  );

  it('a redirect → relayed without the provider’s address, never followed', async () => {
    world.upstream.script(redirect(307, `${world.upstream.url}/elsewhere`));
    const answer = await client.call();
    expect([answer.status, answer.headers.location]).toEqual([307, undefined]);
    expect(world.upstream.requests).toHaveLength(1);
  });
});

describe('event of a named endpoint’s call', () => {
  it('a served call → the slug, the target that served and its cost', async () => {
    const { slug } = client.proxy;
    expect((await client.call({ headers: ['x-app-version', '2.0'] })).status).toBe(200);
    expect(await client.proxy.events()).toMatchObject([
      {
        endpoint_slug: 'answer',
        provider: 'openai',
        provider_slug: slug,
        model: 'gpt-4.1',
        route: `${slug}/v1/responses`,
        status: 'ok',
        input_tokens: 1000,
        cached_input_tokens: 200,
        output_tokens: 300,
        cost_usd: USD,
        cost_source: 'computed',
        app_version: '2.0',
        auth_method: 'api_key',
        attempts: null,
      },
    ]);
  });

  it('refused before admission → no event of a call', async () => {
    expect(refusalOf(await client.call({ body: '[]' }))).toEqual([400, 'invalid_request']);
    expect(refusalOf(await client.at('nobody').call())).toEqual([404, 'endpoint_not_found']);
    expect((await client.call()).status).toBe(200);
    expect(await client.proxy.events(1)).toMatchObject([{ status: 'ok' }]);
  });

  it('second family → its path, and the price of its model', async () => {
    const grok = await EndpointClient.create(world, { provider: { type: 'xai' }, endpoint: { model: 'grok-4.5' } });
    expect((await grok.call()).status).toBe(200);
    expect(world.upstream.requests[0]?.path).toBe('/v1/responses');
    expect(await grok.proxy.events()).toMatchObject([
      {
        provider: 'xai',
        model: 'grok-4.5',
        route: `${grok.proxy.slug}/v1/responses`,
        model_author: 'xAI',
        status: 'ok',
      },
    ]);
  });

  it('a blocked user → refused and counted with the endpoint, nothing is sent; policy is checked first', async () => {
    const authentication = { type: 'api_key', end_user: { source: 'header' } };
    const users = await EndpointClient.create(world, { config: { authentication } });
    const as = { headers: ['x-end-user-id', 'ann'] };
    expect((await users.call(as)).status).toBe(200);
    await users.proxy.events();
    const blocked = await world.api.post(`/v1/admin/apps/${users.proxy.appId}/users/ann/block`);
    expect(blocked.status).toBe(200);
    expect(refusalOf(await users.call({ ...as, body: '[]' }))).toEqual([400, 'invalid_request']);
    for (let call = 0; call < 3; call++) expect(refusalOf(await users.call(as))).toEqual([403, 'auth_required']);
    expect(world.upstream.requests).toHaveLength(1);
    await world.gateway.app.get(UsageRefusals).flush();
    const [refusal] = await users.proxy.events(2);
    expect(refusal).toMatchObject({ status: 'blocked_user', endpoint_slug: 'answer', user_id: 'ann', cost_usd: 0 });
    const month = await world.api.get(`/v1/admin/apps/${users.proxy.appId}/usage`);
    expect(month.body.requests).toBe(5);
  });
});
