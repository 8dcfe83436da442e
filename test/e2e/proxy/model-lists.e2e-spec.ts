import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const entry = (id: string) => ({ id, object: 'model', created: 1_686_935_002, owned_by: 'system' });
const LIST = {
  object: 'list',
  data: ['gpt-4.1', 'gpt-4.1-mini', 'gpt-9-unpriced', 'ft:gpt-4.1-mini:acme::1'].map(entry),
  has_more: false,
};
const GEMINI = {
  models: ['models/gemini-2.5-flash', 'models/gemini-2.5-pro', 'models/nobody-prices-this'].map((name) => ({
    name,
    displayName: name,
    inputTokenLimit: 1_048_576,
  })),
  nextPageToken: 'next',
};
const ONE_CALL = { per_app: { requests: { per_day: 1 } } };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, LIST));
});

afterAll(() => world.stop());

const read = async (client: ProxyClient, path: string) =>
  JSON.parse((await client.call(path, { method: 'GET' })).body.toString());

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

describe('the list of models of a provider', () => {
  it('any application → the priced models, each as the provider describes it', async () => {
    const client = await ProxyClient.create(world);
    expect(await read(client, 'v1/models')).toEqual({ ...LIST, data: ['gpt-4.1', 'gpt-4.1-mini'].map(entry) });
    const [request] = world.upstream.requests;
    expect([request?.method, request?.path, request?.body.length]).toEqual(['GET', '/v1/models', 0]);
    expect(request?.header('authorization')).toMatch(/^Bearer /);
    expect(request?.header('authorization')).not.toContain(client.key);
  });

  it('a list of allowed models with rewrites → the names that the client may send', async () => {
    const policy = { allowed_models: ['fast', 'gpt-4.1', 'gpt-5', 'ft:gpt-4.1-mini:acme::1'] };
    const rewrites = { fast: 'gpt-4.1-mini', hidden: 'gpt-4.1' };
    const provider = { pricing: { 'ft:gpt-4.1-mini:acme::1': { input: 1, output: 2 } } };
    const client = await ProxyClient.create(world, { policy, rewrites, provider });
    expect((await read(client, 'v1/models')).data).toEqual([
      entry('gpt-4.1'),
      entry('fast'),
      entry('ft:gpt-4.1-mini:acme::1'),
    ]);
  });

  it('a custom price → the model is usable', async () => {
    const pricing = { 'gpt-9-unpriced': { input: 1, output: 2 } };
    const client = await ProxyClient.create(world, { provider: { pricing } });
    expect(idsOf(await read(client, 'v1/models'))).toEqual(['gpt-4.1', 'gpt-4.1-mini', 'gpt-9-unpriced']);
  });

  it('Gemini, in both forms → its own form and spelling, pages unchanged', async () => {
    world.upstream.script(json(200, GEMINI));
    const rewrites = { quick: 'gemini-2.5-flash' };
    const client = await ProxyClient.create(world, { provider: { type: 'gemini' }, rewrites });
    const { models, nextPageToken } = await read(client, 'v1beta/models?pageSize=3');
    expect(models.map(({ name }: { name: string }) => name)).toEqual([
      'models/gemini-2.5-flash',
      'models/quick',
      'models/gemini-2.5-pro',
    ]);
    expect(nextPageToken).toBe('next');
    expect(world.upstream.requests[0]?.path).toBe('/v1beta/models?pageSize=3');
    world.upstream.script(json(200, { object: 'list', data: [entry('models/gemini-2.5-pro'), entry('models/x')] }));
    expect(idsOf(await read(client, 'v1beta/openai/models'))).toEqual(['models/gemini-2.5-pro']);
  });

  it('Anthropic → called with a version even if the client sends none', async () => {
    world.upstream.script(json(200, { data: [{ type: 'model', id: 'claude-sonnet-5' }], first_id: 'a', last_id: 'b' }));
    const client = await ProxyClient.create(world, { provider: { type: 'anthropic' } });
    expect(await read(client, 'v1/models')).toEqual({
      ...{ data: [{ type: 'model', id: 'claude-sonnet-5' }], first_id: 'a', last_id: 'b' },
    });
    expect(world.upstream.requests[0]?.header('anthropic-version')).toBe('2023-06-01');
  });

  it('a type that reports its own cost → the allowed models, priced or not', async () => {
    world.upstream.script(json(200, { data: [entry('a/one'), entry('b/two')] }));
    const any = await ProxyClient.create(world, { provider: { type: 'openrouter' } });
    expect(idsOf(await read(any, 'v1/models'))).toEqual(['a/one', 'b/two']);
    const policy = { allowed_models: ['b/two'] };
    const one = await ProxyClient.create(world, { provider: { type: 'openrouter' }, policy });
    expect(idsOf(await read(one, 'v1/models'))).toEqual(['b/two']);
  });

  it('a bare list → a bare list', async () => {
    world.upstream.script(json(200, [entry('meta-llama/Llama-3.3-70B-Instruct-Turbo'), entry('x/unpriced'), 7]));
    const client = await ProxyClient.create(world, { provider: { type: 'together' } });
    expect(await read(client, 'v1/models')).toEqual([entry('meta-llama/Llama-3.3-70B-Instruct-Turbo')]);
  });

  it('many calls → one call of the provider, no limit counts, no event', async () => {
    const client = await ProxyClient.create(world, { limits: ONE_CALL });
    for (let call = 0; call < 5; call++) expect(idsOf(await read(client, 'v1/models'))).toHaveLength(2);
    expect(world.upstream.requests).toHaveLength(1);
    world.upstream.forget();
    expect((await client.call('v1/responses', { body: { model: 'gpt-4.1' } })).status).toBe(200);
    expect(await client.events()).toMatchObject([{ route: `${client.slug}/v1/responses` }]);
  });

  it('two applications of one account → each gets its own part of one answer', async () => {
    const { id, slug } = await world.provider({ slug: 'shared-list' });
    const parts = ['gpt-4.1', 'gpt-4.1-mini'].map(async (model) => {
      const selected = { [slug]: { allowed_paths: [], allowed_models: [model] } };
      const app = await world.app({ routing: { providers: { mode: 'selected', selected }, model_rewrites: {} } });
      return idsOf(await read(new ProxyClient(world, app.id, app.key, slug, id), 'v1/models'));
    });
    expect(await Promise.all(parts)).toEqual([['gpt-4.1'], ['gpt-4.1-mini']]);
  });

  it.each([
    ['a refusal of our key', json(401, { error: { message: 'Incorrect API key provided: sk-proj-1' } })],
    ['trouble', json(500, { error: {} })],
    ['a document without a list', json(200, { object: 'list' })],
    ['no JSON', json(200, '<html>')],
  ])('%s → 502 without the provider’s text, and the next call fetches again', async (_name, script) => {
    const client = await ProxyClient.create(world);
    world.upstream.script(script);
    const answer = await client.call('v1/models', { method: 'GET' });
    expect(refusalOf(answer)).toEqual([502, 'provider_error']);
    expect(answer.body.toString()).not.toMatch(/sk-proj|html/);
    world.upstream.script(json(200, LIST));
    expect(idsOf(await read(client, 'v1/models'))).toHaveLength(2);
  });

  it('a path that the policy does not list, a provider that is not allowed → 403', async () => {
    const paths = await ProxyClient.create(world, { policy: { allowed_paths: ['v1/responses'] } });
    expect(refusalOf(await paths.call('v1/models', { method: 'GET' }))).toEqual([403, 'path_not_allowed']);
    const { slug } = await world.provider({ slug: 'not-allowed' });
    expect(refusalOf(await paths.at(slug).call('v1/models', { method: 'GET' }))).toEqual([403, 'path_not_allowed']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('a query that names a kept object, a path rule with a model that is not allowed → refused before anything is sent', async () => {
    const any = await ProxyClient.create(world);
    const naming = await any.call('v1/models?previous_response_id=resp_1', { method: 'GET' });
    expect(refusalOf(naming)).toEqual([400, 'invalid_request']);
    const allowed_paths = [{ path: 'v1/models', fixed_model: 'gpt-5' }];
    const ruled = await ProxyClient.create(world, { policy: { allowed_paths, allowed_models: ['gpt-4.1'] } });
    expect(refusalOf(await ruled.call('v1/models', { method: 'GET' }))).toEqual([403, 'model_not_allowed']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('the official SDK → lists them', async () => {
    const client = await ProxyClient.create(world);
    const baseURL = `${world.baseUrl}/v1/apps/${client.appId}/proxy/${client.slug}/v1`;
    const found = [];
    for await (const { id } of new OpenAI({ baseURL, apiKey: client.key }).models.list()) found.push(id);
    expect(found).toEqual(['gpt-4.1', 'gpt-4.1-mini']);
  });
});

describe('GET /v1/apps/{app}/models', () => {
  const list = (client: ProxyClient) => world.as(client.key).get(`/v1/apps/${client.appId}/models`);

  it('selected models and a rewrite → those of this provider, without calling it', async () => {
    const policy = { allowed_models: ['gpt-4.1', 'fast'] };
    const client = await ProxyClient.create(world, { policy, rewrites: { fast: 'gpt-4.1-mini' }, limits: ONE_CALL });
    for (let call = 0; call < 3; call++) {
      const { status, body } = await list(client);
      expect([status, body]).toEqual([
        200,
        {
          object: 'list',
          data: ['fast', 'gpt-4.1'].map((id) => ({ id, object: 'model', owned_by: 'OpenAI', provider: client.slug })),
        },
      ]);
    }
    expect(world.upstream.requests).toHaveLength(0);
    expect((await client.call('v1/responses', { body: { model: 'gpt-4.1' } })).status).toBe(200);
  });

  it('every provider → each model once for each instance, priced, custom prices included', async () => {
    const pricing = { 'gpt-9-unpriced': { input: 1, output: 2 } };
    const client = await ProxyClient.create(world, { provider: { pricing } });
    const { body } = await list(client);
    const own = body.data.filter(({ provider }: { provider: string }) => provider === client.slug);
    expect(idsOf({ data: own })).toEqual(expect.arrayContaining(['gpt-4.1', 'gpt-9-unpriced']));
    expect(
      new Set(body.data.map(({ id, provider }: { id: string; provider: string }) => `${provider} ${id}`)).size,
    ).toBe(body.data.length);
    expect(new Set(body.data.map(({ provider }: { provider: string }) => provider)).size).toBeGreaterThan(1);
  });

  it('no credential, or that of another application → refused', async () => {
    const [one, other] = await Promise.all([ProxyClient.create(world), ProxyClient.create(world)]);
    const refused = await world.as(other.key).get(`/v1/apps/${one.appId}/models`);
    expect([refused.status, refused.body.error.code]).toEqual([401, 'auth_required']);
  });
});
