import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { DEFAULT_ANSWER, OVERLOADED, SLOWLY } from '../../support/proxy/provider-simulator.js';
import { PROVIDER_KEY, type SimulatedWorld, startSimulatedWorld } from '../../support/proxy/simulated-world.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { rejectionOf } from '../../support/rejection-of.js';

const MODEL = 'gpt-4.1';
const { text, inputTokens, outputTokens } = DEFAULT_ANSWER;

let world: SimulatedWorld;

beforeAll(async () => {
  world = await startSimulatedWorld('openai');
});

afterAll(() => world.stop());

/** The official client as its users make it: only the address and the key are ours. */
function client(app: { readonly providerUrl: string; readonly key: string }): OpenAI {
  return new OpenAI({ baseURL: `${app.providerUrl}/v1`, apiKey: app.key, maxRetries: 0 });
}

const chat = (content = 'Say something.') => ({ model: MODEL, messages: [{ role: 'user' as const, content }] });

async function collect(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const said = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  return { said, usages: chunks.flatMap((chunk) => chunk.usage ?? []), chunks };
}

async function servedEvent(route: string) {
  return {
    provider: 'openai',
    provider_slug: 'openai',
    model: MODEL,
    route: `openai/${route}`,
    status: 'ok',
    input_tokens: inputTokens,
    cached_input_tokens: 0,
    output_tokens: outputTokens,
    cost_usd: await world.answerCostUsd(MODEL),
    cost_source: 'computed',
    auth_method: 'api_key',
    client_aborted: null,
  };
}

describe('OpenAI SDK', () => {
  it('Responses, not streamed → the text, its usage, and one priced event', async () => {
    const app = await world.app();
    const response = await client(app).responses.create({ model: MODEL, input: 'Say something.' });
    expect(response.output_text).toBe(text);
    expect(response.usage).toMatchObject({ input_tokens: inputTokens, output_tokens: outputTokens });
    expect(await world.event(app)).toMatchObject(await servedEvent('v1/responses'));
  });

  it('Responses, streamed → every chunk in order, the completed response, and one priced event', async () => {
    const app = await world.app();
    const pieces: string[] = [];
    const stream = client(app).responses.stream({ model: MODEL, input: 'Say something.' });
    stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
    const response = await stream.finalResponse();
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join('')).toBe(text);
    expect(response.usage).toMatchObject({ input_tokens: inputTokens, output_tokens: outputTokens });
    expect(await world.event(app)).toMatchObject(await servedEvent('v1/responses'));
  });

  it('Chat Completions, not streamed → the text, Server-Timing and one priced event', async () => {
    const app = await world.app();
    const { data, response } = await client(app).chat.completions.create(chat()).withResponse();
    expect(data.choices[0]?.message.content).toBe(text);
    expect(response.headers.get('server-timing')).toMatch(
      /^auth;dur=\d+\.\d, limiter;dur=\d+\.\d, provider_ttfb;dur=\d+\.\d$/,
    );
    expect(await world.event(app)).toMatchObject(await servedEvent('v1/chat/completions'));
  });

  it('a stream whose client did not ask for usage → the client sees none, the event has it', async () => {
    const app = await world.app();
    const { said, usages, chunks } = await collect(
      await client(app).chat.completions.create({ ...chat(), stream: true }),
    );
    expect(said).toBe(text);
    expect(usages).toEqual([]);
    expect(chunks.filter(({ choices }) => choices.length === 0)).toEqual([]);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(await world.event(app)).toMatchObject(await servedEvent('v1/chat/completions'));
  });

  it('a stream whose client asked for usage → the client sees the usage chunk', async () => {
    const app = await world.app();
    const { said, usages } = await collect(
      await client(app).chat.completions.create({ ...chat(), stream: true, stream_options: { include_usage: true } }),
    );
    expect(said).toBe(text);
    expect(usages).toEqual([
      { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    ]);
    expect(await world.event(app)).toMatchObject(await servedEvent('v1/chat/completions'));
  });

  it('the client aborts mid-stream → the event still has the whole usage, marked as aborted', async () => {
    const app = await world.app();
    const stream = await client(app).chat.completions.create({ ...chat(`Count ${SLOWLY}.`), stream: true });
    let seen = '';
    for await (const chunk of stream) {
      seen += chunk.choices[0]?.delta.content ?? '';
      if (seen !== '') stream.controller.abort();
    }
    expect(text.startsWith(seen)).toBe(true);
    expect(seen.length).toBeLessThan(text.length);
    expect(await world.event(app)).toMatchObject({ ...(await servedEvent('v1/chat/completions')), client_aborted: 1 });
  });

  it('the provider refuses → its own error reaches the SDK, and the event says provider_error', async () => {
    const app = await world.app();
    const error = await rejectionOf(client(app).chat.completions.create(chat(`You are ${OVERLOADED}.`)));
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(await world.event(app)).toMatchObject({ status: 'provider_error', cost_usd: 0, cost_source: 'computed' });
  });
});

describe('OpenAI SDK refusals', () => {
  it.each([false, true])('model not allowed (stream: %s) → PermissionDeniedError with our code', async (stream) => {
    const app = await world.app({ allowed_models: ['gpt-4.1-mini'] });
    const error = await rejectionOf(client(app).chat.completions.create({ ...chat(), stream }));
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'model_not_allowed', message: expect.stringContaining(MODEL) });
  });

  it('an unknown key → AuthenticationError with our code', async () => {
    const app = await world.app();
    const error = await rejectionOf(
      client({ ...app, key: `gw_${'x'.repeat(48)}` }).responses.create({ model: MODEL, input: '.' }),
    );
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'auth_required' });
  });

  it('a model without a price → BadRequestError with our code', async () => {
    const app = await world.app();
    const error = await rejectionOf(client(app).responses.create({ model: 'gpt-of-tomorrow', input: '.' }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'pricing_not_configured' });
  });

  it('more output than the application allows → PermissionDeniedError with our code', async () => {
    const app = await world.app({ max_output_tokens: 100 });
    const error = await rejectionOf(client(app).chat.completions.create({ ...chat(), max_completion_tokens: 101 }));
    expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, code: 'max_output_tokens_exceeded' });
  });
});

describe('OpenAI SDK secrets', () => {
  it('requests to the provider → its own key and no gateway headers', async () => {
    const app = await world.app();
    const before = world.simulator.requests().length;
    await client(app).chat.completions.create(chat());
    const [request] = world.simulator.requests().slice(before);
    expect(request).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: '[REDACTED]' } });
    expect(JSON.stringify(world.simulator.requests())).not.toContain(app.key);
  });

  it('a provider that quotes its key in an error → the SDK does not see it', async () => {
    const { world: gateway } = world;
    const quoting = await gateway.provider({ slug: 'quoting', secret: PROVIDER_KEY });
    const app = await world.app();
    const message = `Incorrect API key provided: ${PROVIDER_KEY}.`;
    gateway.upstream.script(json(401, { error: { message, code: 'invalid_api_key' } }));
    const error = await rejectionOf(
      client({ ...app, providerUrl: world.urlOf(app, quoting.slug) }).chat.completions.create(chat()),
    );
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ code: 'invalid_api_key', message: expect.stringContaining('Incorrect API key') });
    expect(JSON.stringify(error) + String(error)).not.toContain(PROVIDER_KEY);
    expect(gateway.upstream.requests.at(-1)?.header('authorization')).toBe(`Bearer ${PROVIDER_KEY}`);
  });
});
