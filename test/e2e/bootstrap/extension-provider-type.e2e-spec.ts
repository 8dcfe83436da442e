import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { acmeType } from '../../../examples/extension/acme-type.js';
import { EndpointClient } from '../../support/proxy/endpoint-client.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { rejectionOf } from '../../support/rejection-of.js';
import { startWorld, type World } from '../../support/world.js';

const CHAT = 'v1/chat/completions';
const PRICED = { pricing: { 'acme-large': { input: 2, output: 10 } } };
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'acme-large',
  usage: { prompt_tokens: 1_000, completion_tokens: 100 },
};
/** Of 1 000 tokens in and 100 out. */
const COST_USD = 0.003;

let acme: ScriptedUpstream;
let world: World;

beforeAll(async () => {
  acme = await startUpstream();
  world = await startWorld({ providerTypes: [acmeType(`${acme.url}/`)] });
});

beforeEach(() => {
  acme.forget();
  acme.script(json(200, COMPLETION));
});

afterAll(async () => {
  await world.stop();
  await acme.close();
});

/** Members of an instance of the new type, at the address of the type. */
const instance = (members: object = {}) => ({
  type: 'acme',
  baseUrl: undefined,
  secret: 'acme-secret-1234',
  ...members,
});

describe('a provider type of an extension (docs/extending.md)', () => {
  it('the document → names it wherever a request or an answer names types', async () => {
    const { body } = await world.as(undefined).get('/openapi.json');
    const typesOf = (schema: string, member: string) => body.components.schemas[schema].properties[member].enum;
    for (const [schema, member] of [
      ['CreateProviderRequest', 'type'],
      ['TestProviderRequest', 'type'],
      ['RepriceUsageRequest', 'provider'],
      ['ProviderResource', 'type'],
    ] as const) {
      expect(typesOf(schema, member)).toHaveLength(17);
      expect(typesOf(schema, member)).toContain('acme');
    }
  });

  it('an unknown type → the refusal lists it among the known types', async () => {
    const { status, body } = await world.api.post('/v1/admin/providers', instance({ type: 'acne', name: 'A' }));
    expect(status).toBe(400);
    expect(body.error.message).toContain('"openrouter", "acme"');
  });

  it('an instance → listed with what its type serves; its name is reserved for it', async () => {
    const { slug } = await world.provider(instance({ slug: undefined }));
    expect(slug).toBe('acme');
    const { body } = await world.api.get('/v1/admin/providers');
    const found = body.providers.find((provider: { slug: string }) => provider.slug === 'acme');
    expect(found).toMatchObject({
      type: 'acme',
      route: 'direct',
      capability: { apiStyles: ['chat_completions', 'responses'], endpointStyles: ['responses'] },
    });
    const taken = { type: 'openai', name: 'B', slug: 'acme', secret: 'sk-12345678' };
    const refused = await world.api.post('/v1/admin/providers', taken);
    expect(refused.body.error.message).toContain('"acme"');
  });

  it('a test of a key → the cheap call of the type, with its headers', async () => {
    const body = { type: 'acme', secret: 'acme-secret-1234' };
    expect((await world.api.post('/v1/admin/providers/test', body)).body).toEqual({ validated: true });
    const [asked] = acme.requests;
    expect([asked?.method, asked?.path]).toEqual(['GET', '/v1/models']);
    expect([asked?.header('x-acme-key'), asked?.header('x-acme-tenant')]).toEqual(['acme-secret-1234', 'gateway']);
    acme.script(json(401, {}));
    const refused = await world.api.post('/v1/admin/providers/test', body);
    expect(refused.body.error.code).toBe('provider_key_invalid');
  });

  it('a call → its address and headers, whatever type the client claims; priced by custom prices; in usage', async () => {
    const client = await ProxyClient.create(world, { provider: instance(PRICED) });
    const headers = ['x-acme-key', 'forged', 'x-acme-tenant', 'forged'];
    const answer = await client.call(CHAT, { body: { model: 'acme-large', messages: [] }, headers });
    expect(answer.status).toBe(200);
    const [sent] = acme.requests;
    expect(sent?.path).toBe(`/${CHAT}`);
    expect([sent?.header('x-acme-key'), sent?.header('x-acme-tenant')]).toEqual(['acme-secret-1234', 'gateway']);
    expect(sent?.header('authorization')).toBeUndefined();
    const [event] = await client.events();
    expect(event).toMatchObject({ provider: 'acme', model: 'acme-large', cost_usd: COST_USD });
    const { body } = await world.api.get(`/v1/admin/apps/${client.appId}/usage/breakdown?by=provider`);
    expect(body.rows).toMatchObject([{ key: 'acme', requests: 1 }]);
  });

  it('its key header → accepts an application’s key, as its own SDK sends it', async () => {
    const client = await ProxyClient.create(world, { provider: instance(PRICED) });
    const credential = ['x-acme-key', client.key];
    const answer = await client.call(CHAT, { body: { model: 'acme-large', messages: [] }, credential });
    expect(answer.status).toBe(200);
    expect(acme.requests[0]?.header('x-acme-key')).toBe('acme-secret-1234');
    const config = {
      authentication: { type: 'api_key', end_user: { source: 'header', header: 'X-Acme-Key' } },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    };
    const refused = await world.api.post('/v1/admin/apps', { name: 'Mixed up', config });
    expect(refused.body.error.message).toContain('must not be x-acme-key');
  });

  it('a model without a price, a path it does not serve → refused, nothing is sent', async () => {
    const client = await ProxyClient.create(world, { provider: instance(PRICED) });
    const unpriced = await client.call(CHAT, { body: { model: 'gpt-4.1', messages: [] } });
    expect(refusalOf(unpriced)[1]).toBe('pricing_not_configured');
    const other = await client.call('v1/messages', { body: { model: 'acme-large', messages: [], max_tokens: 5 } });
    expect(refusalOf(other)[1]).toBe('api_style_not_supported');
    expect(acme.requests).toHaveLength(0);
  });

  it('a named endpoint → may have it as a target, at the path of the type', async () => {
    acme.script(json(200, { id: 'resp_1', object: 'response', usage: { input_tokens: 10, output_tokens: 2 } }));
    const provider = instance(PRICED);
    const client = await EndpointClient.create(world, { provider, endpoint: { model: 'acme-large' } });
    expect((await client.call()).status).toBe(200);
    expect(acme.requests[0]?.path).toBe('/v1/responses');
    const [event] = await client.proxy.events();
    expect(event).toMatchObject({ provider: 'acme', cost_usd: 0.00004 });
  });

  it('reprice → by its name', async () => {
    const client = await ProxyClient.create(world, { provider: instance(PRICED) });
    await client.call(CHAT, { body: { model: 'acme-large', messages: [] } });
    const [event] = await client.events();
    const order = { provider: 'acme', model: 'acme-large', month: String(event.created_at).slice(0, 7) };
    expect((await world.api.post(`/v1/admin/apps/${client.appId}/usage/reprice`, order)).status).toBe(200);
  });
});

describe('a provider type that cannot be defined', () => {
  it.each([
    ['the name of ours', { name: 'openai' }, 'Provider type "openai": name is taken by another provider type'],
    ['a private address nobody trusts', { name: 'far', baseUrl: 'http://10.1.2.3/' }, 'Provider type "far": baseUrl'],
  ])('%s → the start fails before anything is opened, and says why', async (_case, members, problem) => {
    const started = startWorld({ providerTypes: [{ ...acmeType(`${acme.url}/`), ...members }] });
    expect(await rejectionOf(started)).toMatchObject({ message: expect.stringContaining(problem) });
  });
});
