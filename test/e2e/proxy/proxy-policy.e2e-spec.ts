import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CallOptions, ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = { model: 'gpt-4.1' };
const GENERATE = 'v1beta/models/gemini-2.5-flash:generateContent';

let world: World;
let openai: ProxyClient;
let gemini: ProxyClient;
/** Allows one exact path, one with a model, one with custom rules. */
let strict: ProxyClient;
/** Allows three names, rewrites some. */
let choosy: ProxyClient;
let choosyGemini: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  openai = await ProxyClient.create(world);
  gemini = await ProxyClient.create(world, { provider: { type: 'gemini' } });
  strict = await ProxyClient.create(world, {
    policy: {
      allowed_paths: [
        'v1/responses',
        'v1/engines/{model}/run',
        { path: 'v1/fixed', fixed_model: 'gpt-4.1' },
        'v1/star/*',
      ],
    },
  });
  const rewrites = { fast: 'gpt-4.1-mini', 'gpt-4.1': 'gpt-4.1-nano', slashed: 'Gryphe/MythoMax-L2-13b' };
  const pricing = { 'Gryphe/MythoMax-L2-13b': { input: 1, output: 1 } };
  choosy = await ProxyClient.create(world, { policy: { allowed_models: ['fast', 'gpt-4o'] }, rewrites });
  choosyGemini = await ProxyClient.create(world, {
    provider: { type: 'gemini', pricing },
    policy: { allowed_models: ['fast', 'slashed', 'gemini-2.5-pro'] },
    rewrites: { fast: 'gemini-2.5-flash', slashed: 'Gryphe/MythoMax-L2-13b' },
  });
});

beforeEach(() => {
  world.upstream.forget();
  world.upstream.script(json(200, { id: 'resp_1', object: 'response', usage: { input_tokens: 1, output_tokens: 1 } }));
});

afterAll(() => world.stop());

async function expectRefused(call: Promise<Parameters<typeof refusalOf>[0]>, status: number, code: string) {
  expect(refusalOf(await call)).toEqual([status, code]);
  expect(world.upstream.requests).toHaveLength(0);
}

/** The request that the provider received for a served call. */
async function sent(client: ProxyClient, path: string, options: CallOptions) {
  const answer = await client.call(path, options);
  expect([answer.status, answer.body.toString()]).toEqual([200, expect.stringContaining('resp_1')]);
  const [request] = world.upstream.requests;
  return { path: request?.path, method: request?.method, body: request?.body.toString() };
}

describe('paths', () => {
  it.each(['v1/responses', 'v1/chat/completions', 'v1/embeddings', 'v1/images/generations'])(
    'no list: the inference path %s → sent unchanged',
    async (path) => {
      expect((await sent(openai, path, { body: MODEL })).path).toBe(`/${path}`);
    },
  );

  it.each([
    'v1/files',
    'v1/models',
    'v1/batches',
    'v1/fine_tuning/jobs',
    'v1/responses/resp_1',
    'v1/organization/costs',
  ])('no list: the control-plane path %s → 403', (path) =>
    expectRefused(openai.call(path, { body: MODEL }), 403, 'path_not_allowed'),
  );

  it.each([
    ['an exact entry', 'v1/responses', MODEL],
    ['an entry with a model', 'v1/engines/gpt-4.1/run', {}],
    ['an entry with a fixed model', 'v1/fixed', {}],
    ['a star, which is a letter like any other', 'v1/star/*', MODEL],
  ])('%s → sent', async (_name, path, body) => {
    expect(await sent(strict, path, { body })).toEqual({
      path: `/${path}`,
      method: 'POST',
      body: JSON.stringify(body),
    });
  });

  it.each([
    'v1/chat/completions',
    'v1/star/anything',
    'v1/engines/a/b/run',
    'v1/engines//run',
    'v1/engines/run',
    'v1/fixed/x',
  ])('listed paths: %s is not listed → 403', (path) =>
    expectRefused(strict.call(path, { body: MODEL }), 403, 'path_not_allowed'),
  );

  it.each([
    'v1/responses/',
    '/v1/responses',
    'v1//responses',
    './v1/responses',
    'v1/./responses',
    'v1/x/../responses',
    '../v1/responses',
    '%2e%2e/v1/responses',
    'v1/%2E%2e/v1/responses',
    'v1/x/%2e%2e/responses',
    'v1%2fresponses',
    'v1/responses%2f',
    'v1/%72esponses',
    'v1/responses%00',
    'v1/responses%0d%0ax-evil:%201',
    'v1/responses%3fx=1',
    'v1/responses;a=b',
    'v1\\responses',
    'v1/responses#x',
    'V1/responses',
    'v1/Responses',
  ])('%s instead of v1/responses → 403, nothing is sent', (path) =>
    expectRefused(openai.call(path, { body: MODEL }), 403, 'path_not_allowed'),
  );

  it.each([
    'v1beta/models/a%2fb:generateContent',
    'v1beta/models/a%252fb:generateContent',
    'v1beta/models/../models/gemini-2.5-flash:generateContent',
    'v1beta/models/a/b:generateContent',
    'v1beta/models/:generateContent',
    'v1beta/files/gemini-2.5-flash:generateContent',
    'v1beta/models/gemini-2.5-flash:tune',
  ])('a model segment that is more than a name: %s → 403', (path) =>
    expectRefused(gemini.call(path, { body: {} }), 403, 'path_not_allowed'),
  );

  it('a base URL with a path → the provider path is appended', async () => {
    const provider = { baseUrl: `${world.upstream.url}/base/deep/` };
    const client = await ProxyClient.create(world, { provider });
    expect((await sent(client, 'v1/responses?a=%20b', { body: MODEL })).path).toBe('/base/deep/v1/responses?a=%20b');
  });
});

describe('methods', () => {
  const OTHERS = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND', 'PURGE', 'LINK'];
  const PATHS = ['v1/responses', 'v1/chat/completions', 'v1/embeddings'];

  it.each(OTHERS.flatMap((method) => PATHS.map((path) => [method, path])))(
    'no list: %s %s, with and without a body → 403, nothing is sent',
    async (method = '', path = '') => {
      await expectRefused(openai.call(path, { method, body: MODEL }), 403, 'path_not_allowed');
      await expectRefused(openai.call(path, { method }), 403, 'path_not_allowed');
    },
  );

  it('HEAD → 403 without a body, nothing is sent', async () => {
    const { status, body } = await openai.call('v1/responses', { method: 'HEAD' });
    expect([status, body.length, world.upstream.requests.length]).toEqual([403, 0, 0]);
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s that declares more than 20 MiB → 403 before a body is read', (method) =>
    expectRefused(
      openai.call('v1/responses', { method, headers: ['content-length', String(21 * 1024 * 1024)] }),
      403,
      'path_not_allowed',
    ),
  );

  it('POST without a body → 400', () => expectRefused(openai.call('v1/responses'), 400, 'invalid_request'));

  it.each(['GET', 'PUT', 'DELETE'])('a path that is listed without methods: %s → 403', (method) =>
    expectRefused(strict.call('v1/responses', { method, body: MODEL }), 403, 'path_not_allowed'),
  );

  it('a method other than POST on a path that is not allowed → still 403', () =>
    expectRefused(strict.call('v1/files', { method: 'GET' }), 403, 'path_not_allowed'));
});

describe('methods that are allowed', () => {
  const list = { object: 'list', data: [{ id: 'gpt-4.1', usage: { input_tokens: 7, output_tokens: 7 } }], resp_1: 0 };
  const policy = {
    allowed_paths: [
      'v1/models',
      'v1/models/{model}',
      { path: 'v1/files', methods: ['GET', 'POST'] },
      { path: 'v1/files/{model}', methods: ['DELETE'] },
      { path: 'v1/responses', methods: ['PUT'] },
    ],
  };

  beforeEach(() => world.upstream.script(json(200, list)));

  it('a listed path for GET → without body and content type, recorded without cost, and counted', async () => {
    const limits = { per_app: { requests: { per_day: 1 }, spending: { monthly_usd: 1 } } };
    const client = await ProxyClient.create(world, { policy, limits });
    expect((await client.call('v1/files?limit=2', { method: 'GET' })).status).toBe(200);
    const [request] = world.upstream.requests;
    expect([request?.method, request?.path, request?.body.length]).toEqual(['GET', '/v1/files?limit=2', 0]);
    expect([request?.header('content-type'), request?.header('content-length')]).toEqual([undefined, undefined]);
    expect(await client.events()).toMatchObject([
      {
        model: '(none)',
        route: `${client.slug}/v1/files`,
        status: 'ok',
        cost_source: 'computed',
        cost_usd: 0,
        input_tokens: 0,
        output_tokens: 0,
      },
    ]);
    world.upstream.forget();
    const second = await client.call('v1/files', { method: 'GET' });
    expect([second.status, JSON.parse(second.body.toString()).error.code]).toEqual([429, 'app_rate_limited']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('one model of the list → checked like any other', async () => {
    const client = await ProxyClient.create(world, { policy: { ...policy, allowed_models: ['gpt-4.1'] } });
    expect(await sent(client, 'v1/models/gpt-4.1', { method: 'GET' })).toMatchObject({ path: '/v1/models/gpt-4.1' });
    world.upstream.forget();
    const other = client.call('v1/models/gpt-4o', { method: 'GET' });
    await expectRefused(other, 403, 'model_not_allowed');
  });

  it('an error answer → relayed, recorded without cost', async () => {
    const client = await ProxyClient.create(world, { policy });
    world.upstream.script(json(404, { error: { message: 'no such model' } }));
    expect((await client.call('v1/models/gpt-9', { method: 'GET' })).status).toBe(404);
    expect(await client.events()).toMatchObject([{ status: 'provider_error', cost_source: 'computed', cost_usd: 0 }]);
  });

  it.each([
    ['GET', 'v1/files', {}],
    ['POST', 'v1/files', { body: MODEL }],
    ['DELETE', 'v1/files/file-1', {}],
    ['PUT', 'v1/responses', { body: MODEL }],
  ])('an entry with methods: %s %s → sent with it', async (method, path, options) => {
    const client = await ProxyClient.create(world, { policy });
    expect(await sent(client, path, { method, ...options })).toMatchObject({ method, path: `/${path}` });
  });

  it.each([
    ['POST', 'v1/models'],
    ['DELETE', 'v1/models/gpt-4.1'],
    ['DELETE', 'v1/files'],
    ['GET', 'v1/files/file-1'],
    ['POST', 'v1/responses'],
  ])('%s %s, which the entry does not list → 403', async (method, path) => {
    const client = await ProxyClient.create(world, { policy });
    await expectRefused(client.call(path, { method, body: MODEL }), 403, 'path_not_allowed');
  });

  it.each([
    ['with a length', {}],
    ['in chunks', { chunked: true }],
  ])('a GET with a body %s → 400', async (_name, options) => {
    const client = await ProxyClient.create(world, { policy });
    await expectRefused(client.call('v1/models', { method: 'GET', body: MODEL, ...options }), 400, 'invalid_request');
  });
});

describe('models', () => {
  it('an allowed name that is rewritten → the new name upstream and in the event, the rest unchanged', async () => {
    expect((await sent(choosy, 'v1/responses', { body: '{ "a" : 1e3, "model" : "fast" }' })).body).toBe(
      '{ "a" : 1e3, "model" : "gpt-4.1-mini" }',
    );
    expect(await choosy.events()).toMatchObject([{ model: 'gpt-4.1-mini', route: `${choosy.slug}/v1/responses` }]);
  });

  it.each(['gpt-4.1-mini', 'gpt-4.1', 'FAST', 'fast ', 'fast\u0000', 'constructor', '__proto__', 'gpt-4o-2024-08-06'])(
    'the name %j, which is not on the list → 403',
    (model) => expectRefused(choosy.call('v1/responses', { body: { model } }), 403, 'model_not_allowed'),
  );

  it.each([
    ['fast', 'gemini-2.5-flash'],
    ['%66ast', 'gemini-2.5-flash'],
    ['slashed', 'Gryphe%2FMythoMax-L2-13b'],
    ['gemini-2.5-pro', 'gemini-2.5-pro'],
  ])('a model in the path: %s → sent as %s, the body unchanged', async (named, wire) => {
    const body = '{"contents":[ ],"labels":{}}';
    expect(await sent(choosyGemini, `v1beta/models/${named}:streamGenerateContent?alt=sse`, { body })).toEqual({
      path: `/v1beta/models/${wire}:streamGenerateContent?alt=sse`,
      method: 'POST',
      body,
    });
  });

  it('an unlisted model in the path, an allowed one in the body → 403', () =>
    expectRefused(choosyGemini.call(GENERATE, { body: { model: 'fast' } }), 403, 'model_not_allowed'));

  it.each([
    ['none', {}],
    ['empty', { model: '' }],
    ['null', { model: null }],
    ['a number', { model: 7 }],
    ['a list', { model: ['gpt-4.1'] }],
    ['more than 200 characters', { model: 'm'.repeat(201) }],
  ])('a model that is %s → 400', (_name, body) =>
    expectRefused(openai.call('v1/responses', { body }), 400, 'invalid_request'),
  );

  it.each(['constructor', '__proto__', 'hasOwnProperty', 'gpt-4.1\u0000', 'no-such-model'])(
    'the model %j, which has no price → 400 pricing_not_configured',
    (model) => expectRefused(openai.call('v1/responses', { body: { model } }), 400, 'pricing_not_configured'),
  );

  it('a custom price → only that provider serves the model', async () => {
    const pricing = { 'house-model': { input: 1, output: 2 } };
    const client = await ProxyClient.create(world, { provider: { pricing } });
    await sent(client, 'v1/responses', { body: { model: 'house-model' } });
    world.upstream.forget();
    const elsewhere = client.at(openai.slug).call('v1/responses', { body: { model: 'house-model' } });
    await expectRefused(elsewhere, 400, 'pricing_not_configured');
  });

  it('a type key that allows a model priced only by the second instance → served only there', async () => {
    await world.provider({ slug: 'openai' });
    const { slug, id } = await world.provider({
      slug: 'openai-2',
      pricing: { 'house-model': { input: 1, output: 2 } },
    });
    const selected = { openai: { allowed_paths: [], allowed_models: ['house-model'] } };
    const app = await world.app({ routing: { providers: { mode: 'selected', selected }, model_rewrites: {} } });
    const second = new ProxyClient(world, app.id, app.key, slug, id);
    await sent(second, 'v1/responses', { body: { model: 'house-model' } });
    world.upstream.forget();
    const first = second.at('openai').call('v1/responses', { body: { model: 'house-model' } });
    await expectRefused(first, 400, 'pricing_not_configured');
  });
});

describe('objects kept at the provider', () => {
  const header = { type: 'api_key', end_user: { source: 'header' } };
  const asUser = (user: string, body: object): CallOptions => ({ body, headers: ['x-end-user-id', user] });
  const next = (id: string) => ({ ...MODEL, previous_response_id: id });

  it.each([
    [{ background: true }],
    [{ background: 'yes' }],
    [{ deferred: true }],
    [{ prompt: { id: 'pmpt_1' } }],
    [{ conversation: 'conv_1' }],
    [{ input: [{ content: [{ type: 'input_file', file_id: 'file_1' }] }] }],
    [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
    [{ tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] }],
    [{ service_tier: 'priority' }],
    [{ previous_response_id: 'resp_of_nobody' }],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }],
    [{ input: [{ id: 'msg_1' }] }],
    [{ input: [{ type: 'image_generation_call', id: 'ig_1', result: null }] }],
    [{ input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
    [{ tools: [{ type: 'mcp', server_label: 'mail', connector_id: 'connector_gmail' }] }],
    [{ preset: 'mine' }],
    [{ previous_response_id: ['resp_1'] }],
  ])('%j → 400', (member) =>
    expectRefused(openai.call('v1/responses', { body: { ...MODEL, ...member } }), 400, 'invalid_request'),
  );

  it('an output item with its content and its id → sent unchanged', async () => {
    const input = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }];
    const body = { ...MODEL, input };
    expect((await sent(openai, 'v1/responses', { body })).body).toBe(JSON.stringify(body));
  });

  it.each(['conversation=conv_1', 'file%5Fid=file_1'])('the query %s → 400', (query) =>
    expectRefused(openai.call(`v1/responses?${query}`, { body: MODEL }), 400, 'invalid_request'),
  );

  it('a preset as the model, where the provider reports the cost → 400, unless the application allows it', async () => {
    const model = '@preset/mine';
    const chat = { path: 'v1/chat/completions', body: { model, messages: [] } };
    const any = await ProxyClient.create(world, { provider: { type: 'openrouter' } });
    await expectRefused(any.call(chat.path, { body: chat.body }), 400, 'invalid_request');
    const policy = { allowed_models: [model] };
    const allowed = await ProxyClient.create(world, { provider: { type: 'openrouter' }, policy });
    expect((await sent(allowed, chat.path, { body: chat.body })).path).toBe('/v1/chat/completions');
  });

  it('background of a generated image → sent unchanged', async () => {
    const body = { model: 'gpt-image-1', prompt: 'A cat', background: 'transparent' };
    expect((await sent(openai, 'v1/images/generations', { body })).body).toBe(JSON.stringify(body));
  });

  it.each([[{ background: false }], [{ background: null }], [{ previous_response_id: null }], [{ store: true }]])(
    '%j → sent unchanged',
    async (member) => {
      const body = { ...MODEL, ...member };
      expect((await sent(openai, 'v1/responses', { body })).body).toBe(JSON.stringify(body));
    },
  );

  it('a response that this application and user created → may be continued only by them', async () => {
    const owner = await ProxyClient.create(world, { authentication: header });
    const id = `resp_${owner.appId}`;
    world.upstream.script(
      json(200, { id, object: 'response', resp_1: 0, usage: { input_tokens: 1, output_tokens: 1 } }),
    );
    await owner.call('v1/responses', asUser('ann', MODEL));
    expect((await sent(owner, 'v1/responses', asUser('ann', next(id)))).path).toBe('/v1/responses');
    world.upstream.forget();
    const stranger = await ProxyClient.create(world, { authentication: header });
    await expectRefused(owner.call('v1/responses', asUser('bob', next(id))), 400, 'invalid_request');
    await expectRefused(stranger.call('v1/responses', asUser('ann', next(id))), 400, 'invalid_request');
    await expectRefused(openai.call('v1/responses', { body: next(id) }), 400, 'invalid_request');
  });
});
