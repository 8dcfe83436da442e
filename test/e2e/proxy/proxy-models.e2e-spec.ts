import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const FLASH = 'gemini-2.5-flash';
const GENERATE = `v1beta/models/${FLASH}:generateContent`;
const COUNT = `v1beta/models/${FLASH}:countTokens`;
const EMBEDDING = 'gemini-embedding-001';
const EMBED_ALL = `v1beta/models/${EMBEDDING}:batchEmbedContents`;
const EMBED_ONE = `v1beta/models/${EMBEDDING}:embedContent`;

let world: World;
let gemini: ProxyClient;
/** Allows a name that is rewritten. */
let renaming: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  gemini = await ProxyClient.create(world, { provider: { type: 'gemini' } });
  renaming = await ProxyClient.create(world, {
    provider: { type: 'gemini' },
    policy: { allowed_models: ['quick', 'vector'] },
    rewrites: { quick: FLASH, vector: EMBEDDING },
  });
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

describe('a model in the path and others in the body', () => {
  it.each([
    ['another one', GENERATE, { model: 'gemini-2.5-pro' }],
    ['another one as a resource', GENERATE, { model: 'models/gemini-2.5-pro' }],
    ['an empty one', GENERATE, { model: '' }],
    ['another case', GENERATE, { model: FLASH.toUpperCase() }],
    ['one of another kind', GENERATE, { model: `tunedModels/${FLASH}` }],
    ['another one to be counted', COUNT, { generateContentRequest: { model: 'models/gemini-2.5-pro' } }],
    ['the same in snake case', COUNT, { generate_content_request: { model: 'models/gemini-2.5-pro' } }],
    ['one of two', COUNT, { model: FLASH, generateContentRequest: { model: 'gemini-2.5-pro' } }],
    ['one that is a list', COUNT, { generateContentRequest: { model: [FLASH] } }],
    ['a cache to be counted', COUNT, { generateContentRequest: { cachedContent: 'cachedContents/1' } }],
    ['another one to be embedded', EMBED_ALL, { requests: [{ model: `models/${EMBEDDING}` }, { model: FLASH }] }],
    ['one that is a list, to be embedded', EMBED_ALL, { requests: [{ model: [EMBEDDING] }] }],
    ['another one, embedded alone', EMBED_ONE, { model: `models/${FLASH}` }],
  ])('%s → 400, nothing is sent', async (_name, path, body) => {
    expect(refusalOf(await gemini.call(path, { body }))).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('the refusal names the member', async () => {
    const body = { generateContentRequest: { model: 'gemini-2.5-pro' } };
    const answer = await gemini.call(COUNT, { body });
    expect(JSON.parse(answer.body.toString()).error.message).toBe(
      'generateContentRequest.model: must be the model of the path',
    );
  });

  it.each([
    ['the same', GENERATE, { model: FLASH, contents: [] }],
    ['the same as a resource', GENERATE, { model: `models/${FLASH}`, contents: [] }],
    ['the same to be counted', COUNT, { generateContentRequest: { model: `models/${FLASH}`, contents: [] } }],
    [
      'an argument of that name in what is counted',
      COUNT,
      { generateContentRequest: { model: FLASH, contents: [{ parts: [{ functionCall: { args: { model: 'T' } } }] }] } },
    ],
    ['the same to be embedded', EMBED_ALL, { requests: [{ model: `models/${EMBEDDING}` }, { model: EMBEDDING }] }],
    ['none', EMBED_ALL, { requests: [{ content: { parts: [{ text: 'model' }] } }] }],
  ])('%s → sent unchanged', async (_name, path, body) => {
    expect((await gemini.call(path, { body })).status).toBe(200);
    expect(world.upstream.requests.map((request) => request.body.toString())).toEqual([JSON.stringify(body)]);
  });

  it.each([
    ['quick', FLASH, 'generateContent', (model: string) => ({ model, contents: [] })],
    ['quick', FLASH, 'countTokens', (model: string) => ({ generateContentRequest: { model: `models/${model}` } })],
    [
      'vector',
      EMBEDDING,
      'batchEmbedContents',
      (model: string) => ({ requests: [{ model: `models/${model}` }, { model }] }),
    ],
  ])('%s, which is rewritten to %s (%s) → replaced everywhere', async (named, wire, action, bodyOf) => {
    expect((await renaming.call(`v1beta/models/${named}:${action}`, { body: bodyOf(named) })).status).toBe(200);
    const [request] = world.upstream.requests;
    expect([request?.path, JSON.parse(request?.body.toString() ?? '')]).toEqual([
      `/v1beta/models/${wire}:${action}`,
      bodyOf(wire),
    ]);
  });

  it('an exact path that names a model → that model counts, whatever the body says', async () => {
    const exact = { allowed_paths: ['v1beta/models/gemini-2.5-pro:generateContent'] };
    const client = await ProxyClient.create(world, { provider: { type: 'gemini' }, policy: exact });
    const path = 'v1beta/models/gemini-2.5-pro:generateContent';
    expect(refusalOf(await client.call(path, { body: { model: FLASH } }))).toEqual([400, 'invalid_request']);
    expect((await client.call(path, { body: { contents: [] } })).status).toBe(200);
    expect(await client.events()).toMatchObject([{ model: 'gemini-2.5-pro' }]);
  });

  it('an exact path with a fixed model for its price → that model counts, whatever the body says', async () => {
    const path = 'v1beta/models/tuned-by-us:generateContent';
    const policy = { allowed_paths: [{ path, fixed_model: 'gemini-2.5-pro' }] };
    const client = await ProxyClient.create(world, { provider: { type: 'gemini' }, policy });
    expect(refusalOf(await client.call(path, { body: { model: FLASH } }))).toEqual([400, 'invalid_request']);
    expect((await client.call(path, { body: { contents: [] } })).status).toBe(200);
    expect(world.upstream.requests.map((request) => request.path)).toEqual([`/${path}`]);
    expect(await client.events()).toMatchObject([{ model: 'gemini-2.5-pro' }]);
  });
});

describe('a model that a tool runs', () => {
  const path = 'v1/messages';
  const pricing = { cheap: { input: 1, output: 1 }, dear: { input: 15, output: 75 } };
  const body = (members: object = {}) => ({
    ...{ model: 'cheap', max_tokens: 50, messages: [] },
    tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dear', ...members }],
  });
  const clientWith = (policy: object) =>
    ProxyClient.create(world, { provider: { type: 'anthropic', pricing }, policy: { ...policy } });

  it('not allowed, or without a price → refused before the provider is called', async () => {
    const client = await clientWith({ allowed_models: ['cheap'] });
    expect(refusalOf(await client.call(path, { body: body() }))).toEqual([403, 'model_not_allowed']);
    const any = await clientWith({});
    const unpriced = await any.call(path, { body: body({ model: 'of-nobody' }) });
    expect(refusalOf(unpriced)).toEqual([400, 'pricing_not_configured']);
    expect(world.upstream.requests).toEqual([]);
  });

  it('allowed → sent with the ceiling; its usage is estimated at its own rates', async () => {
    const client = await clientWith({ allowed_models: ['cheap', 'dear'], max_output_tokens: 64 });
    const used = (type: string, counts: object) => ({ type, input_tokens: 10, output_tokens: 5, ...counts });
    const iterations = [used('message', {}), used('advisor_message', { model: 'dear', input_tokens: 1_000 })];
    world.upstream.script(
      json(200, { type: 'message', content: [], usage: { input_tokens: 10, output_tokens: 5, iterations } }),
    );
    expect((await client.call(path, { body: body() })).status).toBe(200);
    const [request] = world.upstream.requests;
    expect(JSON.parse(String(request?.body))).toEqual(body({ max_tokens: 64 }));
    const [event] = await client.events();
    expect(event).toMatchObject({ cost_source: 'unresolved', cost_usd: 0.000_015 });
    const [row] = await world.dataSource.query(
      'SELECT charged_nano_usd AS charged FROM usage_events WHERE app_id = $1',
      [client.appId],
    );
    expect(Number(row.charged)).toBe(15_000 + 1_000 * 15_000 + 5 * 75_000);
  });
});
