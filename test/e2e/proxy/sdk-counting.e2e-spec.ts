import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const FREE = { status: 'ok', cost_source: 'computed', cost_usd: 0, input_tokens: 0, output_tokens: 0 };
/** None of this may be added to a request that generates nothing. */
const CAPPED = { allowed_paths: [], allowed_models: [], max_output_tokens: 50 };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => world.upstream.forget());

afterAll(() => world.stop());

const create = (type: string) => ProxyClient.create(world, { provider: { type }, policy: CAPPED });
const urlOf = ({ appId, slug }: ProxyClient) => `${world.baseUrl}/v1/apps/${appId}/proxy/${slug}`;
const openAiOf = (client: ProxyClient) =>
  new OpenAI({ baseURL: `${urlOf(client)}/v1`, apiKey: client.key, maxRetries: 0 });
const geminiOf = (client: ProxyClient, apiVersion?: string) =>
  new GoogleGenAI({ apiKey: client.key, apiVersion, httpOptions: { baseUrl: urlOf(client) } });

function sent() {
  const [request] = world.upstream.requests;
  return { path: request?.path, body: JSON.parse(request?.body.toString() ?? '') };
}

describe('token counting with the official SDKs, for applications with default settings', () => {
  it('Anthropic: messages.countTokens → the count, recorded as free', async () => {
    const client = await create('anthropic');
    world.upstream.script(json(200, { input_tokens: 14 }));
    const sdk = new Anthropic({ baseURL: urlOf(client), apiKey: client.key, authToken: null, maxRetries: 0 });
    const body = { model: 'claude-sonnet-5', messages: [{ role: 'user' as const, content: 'Hello.' }] };
    const tools = [{ type: 'web_search_20250305' as const, name: 'web_search' as const }];
    expect(await sdk.messages.countTokens({ ...body, tools })).toMatchObject({ input_tokens: 14 });
    expect(sent()).toEqual({ path: '/v1/messages/count_tokens', body: { ...body, tools } });
    expect(await client.events()).toMatchObject([{ ...FREE, model: 'claude-sonnet-5' }]);
  });

  it('OpenAI: responses.inputTokens.count → the count, recorded as free', async () => {
    const client = await create('openai');
    world.upstream.script(json(200, { object: 'response.input_tokens', input_tokens: 11 }));
    const body = { model: 'gpt-4.1', input: 'Hello.' };
    expect(await openAiOf(client).responses.inputTokens.count(body)).toMatchObject({ input_tokens: 11 });
    expect(sent()).toEqual({ path: '/v1/responses/input_tokens', body });
    expect(await client.events()).toMatchObject([{ ...FREE, model: 'gpt-4.1' }]);
  });

  it.each([undefined, 'v1', 'v1beta', 'v1alpha'])(
    'Gemini (%s): models.countTokens → recorded as free',
    async (version) => {
      const client = await create('gemini');
      world.upstream.script(json(200, { totalTokens: 31, usageMetadata: { promptTokenCount: 31 } }));
      const answer = await geminiOf(client, version).models.countTokens({
        model: 'gemini-2.5-flash',
        contents: 'Hello.',
      });
      expect(answer.totalTokens).toBe(31);
      expect(sent().path).toMatch(/^\/v1(alpha|beta)?\/models\/gemini-2\.5-flash:countTokens$/);
      expect(sent().body).not.toHaveProperty('generationConfig');
      expect(await client.events()).toMatchObject([{ ...FREE, model: 'gemini-2.5-flash' }]);
    },
  );

  it.each([
    ['the default model', {}, 'omni-moderation-latest'],
    ['a named model', { model: 'omni-moderation-2024-09-26' }, 'omni-moderation-2024-09-26'],
  ])('OpenAI: moderations.create with %s → recorded as free', async (_name, named, model) => {
    const client = await create('openai');
    world.upstream.script(json(200, { id: 'modr-1', model, results: [{ flagged: false }] }));
    const answer = await openAiOf(client).moderations.create({ input: 'Hello.', ...named });
    expect(answer.results).toHaveLength(1);
    expect(sent()).toEqual({ path: '/v1/moderations', body: { input: 'Hello.', ...named } });
    expect(await client.events()).toMatchObject([{ ...FREE, model }]);
  });

  it('a model without a price → refused, although counting is free', async () => {
    const client = await create('openai');
    const answer = await client.call('v1/responses/input_tokens', { body: { model: 'gpt-of-tomorrow' } });
    expect([answer.status, world.upstream.requests.length]).toEqual([400, 0]);
  });

  it('a count with a spent budget → nothing is held for it', async () => {
    const limits = { per_app: { spending: { monthly_usd: 0.000001 } } };
    const client = await ProxyClient.create(world, { limits });
    world.upstream.script(json(200, { object: 'response.input_tokens', input_tokens: 11 }));
    const body = { model: 'gpt-4.1', input: 'x'.repeat(10_000) };
    for (let call = 0; call < 3; call++) {
      expect((await client.call('v1/responses/input_tokens', { body })).status).toBe(200);
    }
  });
});

describe('embeddings with the official SDKs, for applications with default settings', () => {
  it('OpenAI: embeddings.create → priced by its input', async () => {
    const client = await create('openai');
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }];
    world.upstream.script(
      json(200, { object: 'list', data, usage: { prompt_tokens: 1_000_000, total_tokens: 1_000_000 } }),
    );
    const body = { model: 'text-embedding-3-small', input: 'Hello.', encoding_format: 'float' as const };
    expect((await openAiOf(client).embeddings.create(body)).data).toHaveLength(1);
    expect(sent()).toEqual({ path: '/v1/embeddings', body });
    const { input } = (await world.api.get('/v1/admin/prices')).body.prices.openai['text-embedding-3-small'];
    expect(await client.events()).toMatchObject([
      { cost_source: 'computed', cost_usd: input, input_tokens: 1_000_000, output_tokens: 0 },
    ]);
  });

  it('Gemini: models.embedContent → the models inside its body match the path; priced by its input', async () => {
    const client = await create('gemini');
    const usageMetadata = { promptTokenCount: 1_000_000 };
    world.upstream.script(json(200, { embeddings: [{ values: [0.5] }, { values: [0.5] }], usageMetadata }));
    const model = 'gemini-embedding-001';
    const answer = await geminiOf(client).models.embedContent({ model, contents: ['one', 'two'] });
    expect(answer.embeddings).toHaveLength(2);
    expect(sent().path).toMatch(/\/models\/gemini-embedding-001:batchEmbedContents$/);
    expect(sent().body.requests.map((request: { model: string }) => request.model)).toEqual(
      Array.from({ length: 2 }, () => `models/${model}`),
    );
    const { input } = (await world.api.get('/v1/admin/prices')).body.prices.gemini[model];
    expect(await client.events()).toMatchObject([
      { cost_source: 'computed', cost_usd: input, input_tokens: 1_000_000, output_tokens: 0 },
    ]);
  });
});
