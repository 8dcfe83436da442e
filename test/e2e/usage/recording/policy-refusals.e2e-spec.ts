import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageRefusals } from '../../../../src/usage/recording/usage-refusals.service.js';
import { EndpointClient } from '../../../support/proxy/endpoint-client.js';
import { type CallOptions, ProxyClient } from '../../../support/proxy/proxy-client.js';
import { SUMS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';
import { startWorld, type World } from '../../../support/world.js';

const RESPONSES = 'v1/responses';
const POLICY = {
  allowed_paths: [RESPONSES, 'v1/chat/completions'],
  allowed_models: ['gpt-4.1'],
  max_output_tokens: 100,
};

/** The error for a body does not repeat the body. */
const NOT_QUOTED = /^The request is not valid\.(?: \([\w.]+\))?$/;

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  client = await ProxyClient.create(world, { policy: POLICY });
});

afterAll(() => world.stop());

// biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
async function refusedOf(app: string, query = ''): Promise<any[]> {
  await world.gateway.app.get(UsageRefusals).flush();
  const { body } = await world.api.get(`/v1/admin/usage/events?app=${app}&status=refused${query}`);
  return body.events;
}

const body = (members: object = {}) => ({ body: { model: 'gpt-4.1', input: 'hi', ...members } });

describe('calls that are invalid or refused by the configuration', () => {
  it.each<[string, string, CallOptions, string, string]>([
    ['another model', RESPONSES, body({ model: 'gpt-5' }), 'model_not_allowed', 'blocked_policy'],
    ['another path', 'v1/embeddings', body(), 'path_not_allowed', 'blocked_policy'],
    ['another method', RESPONSES, { method: 'DELETE' }, 'path_not_allowed', 'blocked_policy'],
    ['too many tokens', RESPONSES, body({ max_output_tokens: 999 }), 'max_output_tokens_exceeded', 'blocked_policy'],
    ['a model without a price', RESPONSES, body({ model: 'unpriced' }), 'pricing_not_configured', 'blocked_policy'],
    ['no JSON', RESPONSES, { body: '{' }, 'invalid_request', 'blocked_invalid'],
    ['a member of no sense', RESPONSES, body({ stream: 'my secret' }), 'invalid_request', 'blocked_invalid'],
  ])('%s → one event without cost, with the client’s message', async (_what, path, call, code, status) => {
    const own = await ProxyClient.create(world, code === 'pricing_not_configured' ? {} : { policy: POLICY });
    const answer = await own.call(path, call);
    const told = JSON.parse(answer.body.toString()).error;
    expect(told.code).toBe(code);
    const [event, ...others] = await refusedOf(own.appId);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      ...{ app_id: own.appId, status, requests: 1, cost_usd: 0, input_tokens: 0, cost_source: null, latency_ms: null },
      ...{ api_key_id: expect.any(String), auth_method: 'api_key' },
      refusal: {
        code,
        message: code === 'invalid_request' ? expect.stringMatching(NOT_QUOTED) : told.message,
        until: null,
      },
    });
    // Free text of the client is in no sum.
    expect(event.model).toBe('(none)');
    expect(event.provider_slug).toBe(code === 'path_not_allowed' ? null : own.slug);
    expect((await world.api.get(`/v1/admin/usage?app=${own.appId}`)).body).toMatchObject({ requests: 1, blocked: 1 });
    expect((await world.api.get(`/v1/admin/usage/events?app=${own.appId}&reason=${code}`)).body.events).toHaveLength(1);
    expect((await world.api.get(`/v1/admin/usage/events?app=${own.appId}&reason=other`)).body.events).toEqual([]);
  });

  it('repeatedly → one row per identity, reason and minute, all counted; served calls not included', async () => {
    for (let call = 0; call < 5; call++) await client.call(RESPONSES, body({ model: `made-up-${call}` }));
    for (let call = 0; call < 3; call++) await client.call('v1/embeddings', body());
    expect((await client.call(RESPONSES, body())).status).toBe(200);
    const rows = await refusedOf(client.appId);
    const counts = new Map<string, number>();
    for (const { refusal, requests } of rows) counts.set(refusal.code, (counts.get(refusal.code) ?? 0) + requests);
    expect([...counts].sort()).toEqual([
      ['model_not_allowed', 5],
      ['path_not_allowed', 3],
    ]);
    // A minute may end between two calls.
    expect(rows.length).toBeLessThanOrEqual(4);
    for (const sql of SUMS_OUT_OF_STEP) expect(await world.dataSource.query(sql)).toEqual([]);
  });

  it('a named endpoint → its name, model and provider; one that does not exist → neither', async () => {
    const endpoint = await EndpointClient.create(world, { endpoint: { max_output_tokens: 10 } });
    const app = endpoint.proxy.appId;
    await endpoint.call({ body: '[]' });
    const [invalid] = await refusedOf(app);
    expect(invalid).toMatchObject({
      ...{
        endpoint_slug: endpoint.slug,
        model: 'gpt-4.1',
        provider_slug: endpoint.proxy.slug,
        status: 'blocked_invalid',
      },
    });
    expect(await refusedOf(app, `&endpoint=${endpoint.slug}`)).toHaveLength(1);
    await endpoint.at('no-such-endpoint').call();
    expect((await refusedOf(app, '&reason=endpoint_not_found'))[0]).toMatchObject({
      ...{ endpoint_slug: null, provider: '(none)', provider_slug: null, model: '(none)' },
    });
  });

  it('a limit → the time at which it ends', async () => {
    const limited = await ProxyClient.create(world, { limits: { per_app: { requests: { per_day: 1 } } } });
    await limited.call(RESPONSES, body());
    const answer = await limited.call(RESPONSES, body());
    expect(answer.status).toBe(429);
    const [event] = await refusedOf(limited.appId);
    expect(event.refusal).toMatchObject({ code: 'app_rate_limited', reason: 'app_day_limit_reached' });
    const days = (Date.parse(event.refusal.until) / 86_400_000) % 1;
    expect(Math.min(days, 1 - days) * 86_400).toBeLessThanOrEqual(1);
  });
});
