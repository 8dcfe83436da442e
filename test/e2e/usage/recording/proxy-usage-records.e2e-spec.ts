import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../../support/accounts/accounts.js';
import { type CallOptions, ProxyClient } from '../../../support/proxy/proxy-client.js';
import { event, json, type Script, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const RESPONSES = 'v1/responses';
const CHAT = 'v1/chat/completions';
const TRANSCRIPTIONS = 'v1/audio/transcriptions';
const GPT = { model: 'gpt-4.1' };
const USAGE = { input_tokens: 1200, input_tokens_details: { cached_tokens: 200 }, output_tokens: 300 };
/** 1000 × 2, 200 × 0.50 and 300 × 8 dollars per million. */
const GPT_USD = 0.0045;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.logs.length = 0;
});

afterAll(() => world.stop());

const form = (model: string): CallOptions => ({
  headers: ['content-type', 'multipart/form-data; boundary=b'],
  body: `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`,
});

describe('unknown cost', () => {
  it.each<[string, string, string, CallOptions, Script, string, number]>([
    ['an answer without usage', 'openai', RESPONSES, { body: GPT }, json(200, {}), 'no_usage_reported', 0],
    [
      'usage without any counter',
      'openai',
      RESPONSES,
      { body: GPT },
      json(200, { usage: { a: 1 } }),
      'no_usage_reported',
      0,
    ],
    ['an answer that is not JSON', 'openai', RESPONSES, { body: GPT }, json(200, 'hello'), 'no_usage_reported', 0],
    ['a stream without usage', 'openai', RESPONSES, { body: GPT }, sse([event({ a: 1 })]), 'no_usage_reported', 0],
    [
      'tokens where minutes are sold',
      'openai',
      TRANSCRIPTIONS,
      form('whisper-1'),
      json(200, { usage: { input_tokens: 5 } }),
      'no_priced_measure',
      0,
    ],
    [
      'minutes where tokens are sold',
      'openai',
      TRANSCRIPTIONS,
      form('gpt-4o-mini-transcribe'),
      json(200, { duration: 5 }),
      'no_priced_measure',
      0,
    ],
    [
      'a reporting provider that reports nothing',
      'openrouter',
      CHAT,
      { body: { model: 'a/b' } },
      json(200, { usage: USAGE }),
      'no_cost_reported',
      0,
    ],
    [
      'a hosted tool with its own fee',
      'openai',
      RESPONSES,
      { body: { ...GPT, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] } },
      json(200, { output: [{ type: 'code_interpreter_call' }], usage: USAGE }),
      'unpriced_tool',
      GPT_USD,
    ],
  ])('%s → unresolved, one error log line says why', async (_name, type, path, call, script, reason, usd) => {
    const client = await ProxyClient.create(world, { provider: { type } });
    world.upstream.script(script);
    expect((await client.call(path, call)).status).toBe(200);
    expect(await client.events()).toMatchObject([{ status: 'ok', cost_source: 'unresolved', cost_usd: usd }]);
    expect(client.lines('usage_unresolved_cost')).toMatchObject([
      { level: 'error', reason, route: `${client.slug}/${path}` },
    ]);
  });

  it('a hosted tool that was offered but not used → computed', async () => {
    const client = await ProxyClient.create(world);
    world.upstream.script(json(200, { output: [{ type: 'message' }], usage: USAGE }));
    await client.call(RESPONSES, { body: { ...GPT, tools: [{ type: 'web_search' }] } });
    expect(await client.events()).toMatchObject([{ cost_source: 'computed', cost_usd: GPT_USD }]);
  });
});

describe('events and totals of an application', () => {
  const authentication = { type: 'api_key', end_user: { source: 'header' } };
  const as = (user: string, model = 'gpt-4.1'): CallOptions => ({ body: { model }, headers: ['x-end-user-id', user] });

  it('an event → has every field with its value', async () => {
    const client = await ProxyClient.create(world, { authentication, rewrites: { fast: 'gpt-4.1' } });
    world.upstream.script(json(200, { usage: USAGE }));
    const call = as('ann', 'fast');
    await client.call(RESPONSES, { ...call, headers: [...(call.headers ?? []), 'x-app-version', '2.0'] });
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}/keys`);
    const [event] = await client.events();
    const { id, latency_ms, duration_ms, created_at, ...told } = event;
    expect(duration_ms).toBeGreaterThanOrEqual(latency_ms);
    expect([Number.isInteger(id), latency_ms >= 0, new Date(created_at).toISOString()]).toEqual([
      true,
      true,
      created_at,
    ]);
    expect(told).toEqual({
      app_id: client.appId,
      user_id: 'ann',
      api_key_id: body.keys[0].id,
      provider: 'openai',
      provider_slug: client.slug,
      provider_gateway_id: null,
      provider_gateway_type: null,
      credential_source: 'direct',
      model_author: 'OpenAI',
      served_provider: null,
      served_model: null,
      model: 'gpt-4.1',
      route: `${client.slug}/${RESPONSES}`,
      endpoint_slug: null,
      input_tokens: 1000,
      cached_input_tokens: 200,
      cache_write_tokens: 0,
      output_tokens: 300,
      cost_usd: GPT_USD,
      estimated_cost_usd: 0,
      reported_cost_usd: null,
      cost_source: 'computed',
      app_version: '2.0',
      auth_method: 'api_key',
      status: 'ok',
      client_aborted: null,
      attempts: null,
      settled_at: null,
      refusal: null,
      requests: 1,
    });
  });

  it('fifty calls at once → fifty events, and totals that are their exact sum', async () => {
    const client = await ProxyClient.create(world);
    const path = `/v1/admin/apps/${client.appId}/usage`;
    world.upstream.script(json(200, { usage: USAGE }));
    const calls = Array.from({ length: 50 }, () => client.call(RESPONSES, { body: GPT }));
    expect((await Promise.all(calls)).every(({ status }) => status === 200)).toBe(true);
    const events = await client.events(50);
    expect(new Set(events.map(({ id }) => id)).size).toBe(50);
    const month = new Date().toISOString().slice(0, 7);
    const none = {
      requests: 0,
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      cost_usd: 0,
      estimated_cost_usd: 0,
    };
    const all = {
      ...none,
      requests: 50,
      input_tokens: 50_000,
      cached_input_tokens: 10_000,
      output_tokens: 15_000,
      cost_usd: 0.225,
      estimated_cost_usd: 0,
    };
    expect((await world.api.get(path)).body).toEqual({ app_id: client.appId, month, ...all });
    expect((await world.api.get(`${path}?month=2020-01`)).body).toEqual({
      app_id: client.appId,
      month: '2020-01',
      ...none,
    });
    expect((await world.api.get(`${path}?month=2020-13`)).status).toBe(400);
  });

  it('filters and pages → the requested events, latest first, each once', async () => {
    const client = await ProxyClient.create(world, { authentication });
    for (const [user, model, status] of [
      ['ann', 'gpt-4.1', 200],
      ['bob', 'gpt-4.1', 500],
      ['ann', 'gpt-4.1-mini', 200],
    ] as const) {
      world.upstream.script(json(status, { usage: USAGE }));
      await client.call(RESPONSES, as(user, model));
    }
    const all = await client.events(3);
    expect(all.map(({ model, user_id }) => [model, user_id])).toEqual([
      ['gpt-4.1-mini', 'ann'],
      ['gpt-4.1', 'bob'],
      ['gpt-4.1', 'ann'],
    ]);
    const [last, middle, first] = all;
    expect(await client.events(2, '&user=ann')).toEqual([last, first]);
    expect(await client.events(1, '&status=provider_error')).toEqual([middle]);
    expect(await client.events(2, '&model=gpt-4.1')).toEqual([middle, first]);
    expect(await client.events(3, '&provider=openai')).toEqual(all);
    expect(await client.events(0, '&provider=anthropic')).toEqual([]);
    const path = `/v1/admin/apps/${client.appId}/events?limit=2`;
    const page = (await world.api.get(path)).body;
    expect(page).toEqual({ app_id: client.appId, limit: 2, next_before_id: middle.id, events: [last, middle] });
    const next = (await world.api.get(`${path}&before_id=${page.next_before_id}`)).body;
    expect(next).toEqual({ app_id: client.appId, limit: 2, next_before_id: null, events: [first] });
    expect((await world.api.get(`/v1/admin/apps/${client.appId}/events?limit=0`)).status).toBe(400);
  });

  it('another account → the application does not exist', async () => {
    const client = await ProxyClient.create(world);
    const { key } = await newAccount(world.dataSource);
    for (const path of ['usage', 'events']) {
      const { status, body } = await world.as(key).get(`/v1/admin/apps/${client.appId}/${path}`);
      expect([status, body.error.code]).toEqual([404, 'app_not_found']);
    }
  });
});

describe('errors inside answers with a successful status', () => {
  const failed = event({ type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } });
  const delta = event({ type: 'response.output_text.delta', delta: 'word' });

  it.each<[string, Script, object]>([
    ['at once', sse([failed]), { cost_usd: 0, estimated_cost_usd: 0, cost_source: 'computed' }],
    ['in a document', json(200, { status: 'failed', output: [] }), { cost_usd: 0, cost_source: 'computed' }],
    ['after content', sse([delta, failed]), { cost_usd: 0, cost_source: 'unresolved' }],
    [
      'with usage',
      json(200, { status: 'failed', output: [{ type: 'message' }], usage: USAGE }),
      { cost_usd: GPT_USD, cost_source: 'computed' },
    ],
  ])('%s → provider_error, with its actual cost', async (_name, script, expected) => {
    const client = await ProxyClient.create(world);
    world.upstream.script(script);
    expect((await client.call(RESPONSES, { body: { ...GPT, stream: true } })).status).toBe(200);
    expect(await client.events()).toMatchObject([{ status: 'provider_error', ...expected }]);
  });
});
