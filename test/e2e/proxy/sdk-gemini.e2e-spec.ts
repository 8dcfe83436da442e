import { ApiError, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_ANSWER, OVERLOADED, SLOWLY } from '../../support/proxy/provider-simulator.js';
import { PROVIDER_KEY, type SimulatedWorld, startSimulatedWorld } from '../../support/proxy/simulated-world.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { rejectionOf } from '../../support/rejection-of.js';

const MODEL = 'gemini-2.5-flash';
const { text, inputTokens, outputTokens } = DEFAULT_ANSWER;

let world: SimulatedWorld;

beforeAll(async () => {
  world = await startSimulatedWorld('gemini');
});

afterAll(() => world.stop());

/** The official client sends its key in `x-goog-api-key`; the simulator serves this version of the API. */
function client(app: { readonly providerUrl: string; readonly key: string }): GoogleGenAI {
  return new GoogleGenAI({ apiKey: app.key, apiVersion: 'v1beta', httpOptions: { baseUrl: app.providerUrl } });
}

const prompt = (contents = 'Say something.', model = MODEL) => ({ model, contents });

/** The SDK keeps the whole error body as text in its message. */
async function refusalOf(call: PromiseLike<unknown>): Promise<{ status: number; code: unknown }> {
  const error = await rejectionOf(call);
  expect(error).toBeInstanceOf(ApiError);
  const { status, message } = error as ApiError;
  return { status, code: JSON.parse(message).error.code };
}

async function servedEvent(action: string) {
  return {
    provider: 'gemini',
    model: MODEL,
    route: `gemini/v1beta/models/${MODEL}:${action}`,
    status: 'ok',
    input_tokens: inputTokens,
    cached_input_tokens: 0,
    output_tokens: outputTokens,
    cost_usd: await world.answerCostUsd(MODEL),
    cost_source: 'computed',
    client_aborted: null,
  };
}

describe('Gemini SDK', () => {
  it('generateContent → the text, its usage, and one priced event', async () => {
    const app = await world.app();
    const answer = await client(app).models.generateContent(prompt());
    expect(answer.text).toBe(text);
    expect(answer.usageMetadata).toMatchObject({ promptTokenCount: inputTokens, candidatesTokenCount: outputTokens });
    expect(await world.event(app)).toMatchObject(await servedEvent('generateContent'));
  });

  it('generateContentStream → every chunk in order, the usage in the last, and one priced event', async () => {
    const app = await world.app();
    const pieces: string[] = [];
    const usages: unknown[] = [];
    for await (const chunk of await client(app).models.generateContentStream(prompt())) {
      pieces.push(chunk.text ?? '');
      if (chunk.usageMetadata) usages.push(chunk.usageMetadata);
    }
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join('')).toBe(text);
    expect(usages).toEqual([expect.objectContaining({ candidatesTokenCount: outputTokens })]);
    expect(await world.event(app)).toMatchObject(await servedEvent('streamGenerateContent'));
  });

  it('the SDK’s own default API version → served and priced like the named one', async () => {
    const { world: gateway } = world;
    const scripted = await gateway.provider({ type: 'gemini', slug: 'scripted', secret: PROVIDER_KEY });
    const app = await world.app();
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4, thoughtsTokenCount: 6, totalTokenCount: 20 };
    const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP', index: 0 }];
    gateway.upstream.script(json(200, { candidates, usageMetadata, modelVersion: MODEL }));
    const sdk = new GoogleGenAI({ apiKey: app.key, httpOptions: { baseUrl: world.urlOf(app, scripted.slug) } });
    expect((await sdk.models.generateContent(prompt())).text).toBe('Hi.');
    expect(gateway.upstream.requests.at(-1)?.header('x-goog-api-key')).toBe(PROVIDER_KEY);
    expect(await world.event(app)).toMatchObject({
      route: `scripted/v1/models/${MODEL}:generateContent`,
      input_tokens: 10,
      output_tokens: 10,
      cost_source: 'computed',
    });
  });

  it('the client aborts mid-stream → the event still has the whole usage, marked as aborted', async () => {
    const app = await world.app();
    const leaving = new AbortController();
    const config = { abortSignal: leaving.signal };
    let seen = '';
    const read = async () => {
      const stream = await client(app).models.generateContentStream({ ...prompt(`Count ${SLOWLY}.`), config });
      for await (const chunk of stream) {
        seen += chunk.text ?? '';
        leaving.abort();
      }
    };
    await expect(read()).rejects.toThrow(/abort/i);
    expect(text.startsWith(seen)).toBe(true);
    expect(seen.length).toBeLessThan(text.length);
    expect(await world.event(app)).toMatchObject({
      ...(await servedEvent('streamGenerateContent')),
      client_aborted: 1,
    });
  });

  it('the provider refuses → its own error reaches the SDK, and the event says provider_error', async () => {
    const app = await world.app();
    const refusal = await refusalOf(client(app).models.generateContent(prompt(`You are ${OVERLOADED}.`)));
    expect(refusal.status).toBe(429);
    expect(await world.event(app)).toMatchObject({ status: 'provider_error', cost_usd: 0 });
  });

  it('requests to the provider → its own key, the query that asks for a stream, and no gateway headers', async () => {
    const app = await world.app();
    const before = world.simulator.requests().length;
    for await (const chunk of await client(app).models.generateContentStream(prompt())) expect(chunk).toBeDefined();
    const [request] = world.simulator.requests().slice(before);
    expect(request).toMatchObject({
      path: `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
      headers: { 'x-goog-api-key': '[REDACTED]' },
    });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(world.simulator.requests())).not.toContain(app.key);
  });
});

describe('Gemini SDK refusals', () => {
  it('model not allowed → 403 with our code', async () => {
    const app = await world.app({ allowed_models: ['gemini-2.5-pro'] });
    expect(await refusalOf(client(app).models.generateContent(prompt()))).toEqual({
      status: 403,
      code: 'model_not_allowed',
    });
  });

  it('an unknown key → 401 with our code', async () => {
    const app = await world.app();
    const stranger = client({ ...app, key: `gw_${'x'.repeat(48)}` });
    expect(await refusalOf(stranger.models.generateContentStream(prompt()))).toEqual({
      status: 401,
      code: 'auth_required',
    });
  });

  it('a model without a price → 400 with our code', async () => {
    const app = await world.app();
    const call = client(app).models.generateContent(prompt('Say something.', 'gemini-of-tomorrow'));
    expect(await refusalOf(call)).toEqual({ status: 400, code: 'pricing_not_configured' });
  });
});
