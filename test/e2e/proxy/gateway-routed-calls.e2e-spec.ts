import { describe, expect, it } from '@jest/globals';
import { EndpointClient } from '../../support/proxy/endpoint-client.js';
import { refusalOf } from '../../support/proxy/proxy-client.js';
import { plainCompletion } from '../../support/proxy/upstream.js';
import { json, sse } from '../../support/proxy/upstream-scripts.js';
import { GATEWAY_TOKEN, onlyRequest, routedSuite } from '../../support/upstream-gateway-world.js';

const WITH_USERS = { type: 'api_key', end_user: { source: 'header' } };
const GEMINI_PATH = 'v1beta/models/gemini-2.5-flash:generateContent';
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'cf-aig-authorization'];

const suite = routedSuite();
const sent = () => onlyRequest(suite.stage);

/** Its credential headers, the names of all of them in turn. */
function credentials(): Record<string, string> {
  const request = sent();
  const present = CREDENTIAL_HEADERS.flatMap((name) => {
    const value = request.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(present);
}

const bodySent = () => JSON.parse(sent().body.toString());

describe('calls through cf_aig', () => {
  it.each([
    ['openai', 'v1/responses', 'gpt-4.1', '/cf/acc/main/openai/responses'],
    ['openai', 'v1/chat/completions', 'gpt-4.1', '/cf/acc/main/openai/chat/completions'],
    ['openai', 'v1/embeddings', 'text-embedding-3-small', '/cf/acc/main/openai/embeddings'],
    ['anthropic', 'v1/messages', 'claude-sonnet-4-5', '/cf/acc/main/anthropic/v1/messages'],
    ['xai', 'v1/chat/completions', 'grok-4', '/cf/acc/main/grok/v1/chat/completions'],
    ['gemini', GEMINI_PATH, 'gemini-2.5-flash', `/cf/acc/main/google-ai-studio/${GEMINI_PATH}`],
    ['perplexity', 'chat/completions', 'sonar', '/cf/acc/main/perplexity-ai/chat/completions'],
  ])('%s %s → its own address, the gateway’s token, no other credential', async (type, path, model, target) => {
    const { client, gatewayId } = await suite.stage.routed('cf_aig', { provider: { type } });
    const body = path === GEMINI_PATH ? { contents: [] } : { model, input: 'x' };
    expect((await client.call(path, { body })).status).toBe(200);
    expect(sent().path).toBe(target);
    expect(credentials()).toEqual({ 'cf-aig-authorization': `Bearer ${GATEWAY_TOKEN}` });
    expect(bodySent()).toEqual(body);
    const [event] = await client.events();
    expect(event).toMatchObject({
      provider: type,
      provider_slug: client.slug,
      provider_gateway_id: gatewayId,
      provider_gateway_type: 'cf_aig',
      credential_source: 'byok',
      model,
      route: `${client.slug}/${path}`,
      status: 'ok',
    });
  });

  it('a form → its fields and file, at the gateway’s address', async () => {
    const { client } = await suite.stage.routed('cf_aig');
    const form =
      '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n' +
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\nsound\r\n--b--\r\n';
    const headers = ['content-type', 'multipart/form-data; boundary=b'];
    expect((await client.call('v1/audio/transcriptions', { body: form, headers })).status).toBe(200);
    expect(sent().path).toBe('/cf/acc/main/openai/audio/transcriptions');
    for (const part of ['whisper-1', 'filename="a.mp3"', 'sound']) expect(sent().body.toString()).toContain(part);
  });

  it('model rewrite in a path → the canonical model, without a prefix', async () => {
    const { client } = await suite.stage.routed('cf_aig', {
      provider: { type: 'gemini' },
      rewrites: { fast: 'gemini-2.5-flash' },
    });
    await client.call('v1beta/models/fast:generateContent', { body: { contents: [] } });
    expect(sent().path).toBe(`/cf/acc/main/google-ai-studio/${GEMINI_PATH}`);
  });

  it('metadata → the application and its user; without a user only the application', async () => {
    const { client } = await suite.stage.routed('cf_aig');
    await client.call('v1/responses', { body: { model: 'gpt-4.1' } });
    expect(JSON.parse(sent().header('cf-aig-metadata') ?? '')).toEqual({ app_id: client.appId });
    suite.stage.edge.forget();
    const { client: ofUsers } = await suite.stage.routed('cf_aig', { authentication: WITH_USERS });
    const headers = ['x-end-user-id', 'u"1\\'];
    await ofUsers.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
    expect(JSON.parse(sent().header('cf-aig-metadata') ?? '')).toEqual({ app_id: ofUsers.appId, user_id: 'u"1\\' });
    expect(sent().header('x-end-user-id')).toBeUndefined();
  });

  it('cost that xai reports → counts here, so no price is needed', async () => {
    suite.stage.edge.script(
      json(200, { ...plainCompletion, usage: { ...plainCompletion.usage, cost_in_usd_ticks: 5_000_000 } }),
    );
    const { client } = await suite.stage.routed('cf_aig', { provider: { type: 'xai' } });
    const answer = await client.call('v1/chat/completions', { body: { model: 'no-price-anywhere' } });
    expect(answer.status).toBe(200);
    const [event] = await client.events();
    expect(event).toMatchObject({ reported_cost_usd: 0.0005, cost_usd: 0.0005 });
  });
});

describe('calls through vercel', () => {
  it.each([
    ['openai', 'v1/responses', 'gpt-4.1', 'openai/'],
    ['anthropic', 'v1/messages', 'claude-sonnet-4-5', 'anthropic/'],
    ['gemini', 'v1/chat/completions', 'gemini-2.5-flash', 'google/'],
    ['xai', 'v1/responses', 'grok-4', 'spacexai/'],
    ['perplexity', 'v1/chat/completions', 'sonar', 'perplexity/'],
    ['deepseek', 'v1/chat/completions', 'deepseek-chat', 'deepseek/'],
    ['moonshot', 'v1/chat/completions', 'own-model', 'moonshotai/'],
  ])('%s %s → the path unchanged, a bearer token, the model with its namespace', async (type, path, model, prefix) => {
    const pricing = { [model]: { input: 1, output: 2 } };
    const { client, gatewayId } = await suite.stage.routed('vercel', { provider: { type, pricing } });
    expect((await client.call(path, { body: { model, input: 'x' } })).status).toBe(200);
    expect(sent().path).toBe(`/vercel/${path}`);
    expect(credentials()).toEqual({ authorization: `Bearer ${GATEWAY_TOKEN}` });
    expect(bodySent()).toEqual({ model: `${prefix}${model}`, input: 'x' });
    const [event] = await client.events();
    expect(event).toMatchObject({
      provider: type,
      provider_gateway_id: gatewayId,
      provider_gateway_type: 'vercel',
      credential_source: null,
      model,
      route: `${client.slug}/${path}`,
      status: 'ok',
    });
  });

  it('prefix of the instance, rewritten model → prefix before the canonical name; the list applies to the name that the client sent', async () => {
    const { client } = await suite.stage.routed('vercel', {
      provider: { gatewayRoute: { modelPrefix: 'own/' } },
      policy: { allowed_models: ['fast'] },
      rewrites: { fast: 'gpt-4.1' },
    });
    await client.call('v1/responses', { body: { model: 'fast' } });
    expect(bodySent()).toEqual({ model: 'own/gpt-4.1' });
    expect((await client.events())[0]).toMatchObject({ model: 'gpt-4.1' });
    expect(refusalOf(await client.call('v1/responses', { body: { model: 'own/gpt-4.1' } }))).toEqual([
      403,
      'model_not_allowed',
    ]);
    expect(suite.stage.edge.requests).toHaveLength(1);
  });

  it('model that already has the namespace → has no price, so 400', async () => {
    const { client } = await suite.stage.routed('vercel');
    const answer = await client.call('v1/responses', { body: { model: 'openai/gpt-4.1' } });
    expect(refusalOf(answer)).toEqual([400, 'pricing_not_configured']);
  });

  it('providerOnly → overrides the client’s; other options stay, and everything else byte for byte', async () => {
    const { client } = await suite.stage.routed('vercel', {
      provider: { gatewayRoute: { providerOnly: ['azure', 'openai'] } },
    });
    const body =
      '{"model":"gpt-4.1", "temperature":1.0,"providerOptions":{"openai":{"a":1e5},"gateway":{"only":["evil"], "order":["x"]}}}';
    await client.call('v1/responses', { body });
    const text = sent().body.toString();
    expect(JSON.parse(text)).toEqual({
      model: 'openai/gpt-4.1',
      temperature: 1,
      providerOptions: { openai: { a: 1e5 }, gateway: { only: ['azure', 'openai'], order: ['x'] } },
    });
    expect(text).toContain(' "temperature":1.0,');
  });

  it.each([{}, { providerOptions: null }, { providerOptions: 'x' }, { providerOptions: { gateway: [] } }])(
    'providerOnly over %j → still set',
    async (members) => {
      const { client } = await suite.stage.routed('vercel', {
        provider: { gatewayRoute: { providerOnly: ['azure'] } },
      });
      await client.call('v1/chat/completions', { body: { model: 'gpt-4.1', ...members } });
      expect(bodySent().providerOptions).toEqual({ gateway: { only: ['azure'] } });
    },
  );

  it('duplicate option → sent once, as validated; params over a duplicate → 400 in every case', async () => {
    const providerGatewayId = await suite.stage.gateway('vercel');
    const gatewayRoute = { providerOnly: ['azure'] };
    const provider = { secret: undefined, baseUrl: undefined, providerGatewayId, gatewayRoute };
    const endpoint = { params: { metadata: { a: 1 } } };
    const client = await EndpointClient.create(suite.stage.world, { provider, endpoint });
    await client.call({ body: '{"providerOptions":{"gateway":{"only":[],"order":["x"],"only":["y"]}}}' });
    expect(bodySent().providerOptions).toEqual({ gateway: { only: ['azure'], order: ['x'] } });
    suite.stage.edge.forget();
    const body = '{"previous_response_id":"resp_1","metadata":{"a":1,"a":2}}';
    expect(refusalOf(await client.call({ body }))).toEqual([400, 'invalid_request']);
    expect(refusalOf(await client.call({ body: body.replace('"resp_1"', 'null') }))).toEqual([400, 'invalid_request']);
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it.each(['models', 'byok', 'user', 'tags'])('providerOptions.gateway.%s → 400, nothing is sent', async (member) => {
    const { client } = await suite.stage.routed('vercel');
    const body = { model: 'gpt-4.1', providerOptions: { gateway: { [member]: ['x'] } } };
    expect(refusalOf(await client.call('v1/responses', { body }))).toEqual([400, 'invalid_request']);
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it.each([
    ['gemini', GEMINI_PATH],
    ['openai', 'v1/audio/transcriptions'],
    ['openai', 'v1/embeddings'],
    ['xai', 'v1/stt'],
  ])('%s %s → 403 api_style_not_supported, nothing is sent', async (type, path) => {
    const { client } = await suite.stage.routed('vercel', { provider: { type } });
    const answer = await client.call(path, { body: { model: 'gpt-4.1' } });
    expect(refusalOf(answer)).toEqual([403, 'api_style_not_supported']);
    expect(suite.stage.edge.requests).toHaveLength(0);
  });

  it('xai → its reported cost does not count: without a price 400', async () => {
    const { client } = await suite.stage.routed('vercel', { provider: { type: 'xai' } });
    const answer = await client.call('v1/chat/completions', { body: { model: 'no-price-anywhere' } });
    expect(refusalOf(answer)).toEqual([400, 'pricing_not_configured']);
  });

  it('reports → user and application; without a user only the application', async () => {
    const { client } = await suite.stage.routed('vercel', { authentication: WITH_USERS });
    await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: ['x-end-user-id', 'user-1'] });
    expect(sent().header('ai-reporting-user')).toBe('user-1');
    expect(sent().header('ai-reporting-tags')).toBe(`app:${client.appId}`);
    suite.stage.edge.forget();
    const { client: ofNobody } = await suite.stage.routed('vercel');
    await ofNobody.call('v1/responses', { body: { model: 'gpt-4.1' } });
    expect(sent().header('ai-reporting-user')).toBeUndefined();
    expect(sent().header('ai-reporting-tags')).toBe(`app:${ofNobody.appId}`);
  });

  it('stream → relayed and counted, the model without its namespace', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    suite.stage.edge.script(
      sse([
        'data: {"id":"c","choices":[{"delta":{"content":"Hi"}}]}\n\n',
        `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`,
        'data: [DONE]\n\n',
      ]),
    );
    const { client } = await suite.stage.routed('vercel');
    const answer = await client.call('v1/chat/completions', { body: { model: 'gpt-4.1', stream: true } });
    expect(answer.body.toString()).toContain('"Hi"');
    expect(bodySent()).toMatchObject({
      model: 'openai/gpt-4.1',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect((await client.events())[0]).toMatchObject({ model: 'gpt-4.1', input_tokens: 7, output_tokens: 3 });
  });
});
