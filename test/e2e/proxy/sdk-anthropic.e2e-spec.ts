import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_ANSWER, OVERLOADED, SLOWLY } from '../../support/proxy/provider-simulator.js';
import { type SimulatedWorld, startSimulatedWorld } from '../../support/proxy/simulated-world.js';
import { rejectionOf } from '../../support/rejection-of.js';

const MODEL = 'claude-sonnet-5';
const { text, inputTokens, outputTokens } = DEFAULT_ANSWER;

let world: SimulatedWorld;

beforeAll(async () => {
  world = await startSimulatedWorld('anthropic');
});

afterAll(() => world.stop());

/** The official client sends its key in `x-api-key`, and puts `/v1` before its paths itself. */
function client(app: { readonly providerUrl: string; readonly key: string }): Anthropic {
  return new Anthropic({ baseURL: app.providerUrl, apiKey: app.key, authToken: null, maxRetries: 0 });
}

const message = (content = 'Say something.') => ({
  model: MODEL,
  max_tokens: 1_000,
  messages: [{ role: 'user' as const, content }],
});

async function servedEvent() {
  return {
    provider: 'anthropic',
    model: MODEL,
    route: 'anthropic/v1/messages',
    status: 'ok',
    input_tokens: inputTokens,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: outputTokens,
    cost_usd: await world.answerCostUsd(MODEL),
    cost_source: 'computed',
    client_aborted: null,
  };
}

describe('Anthropic SDK', () => {
  it('Messages, not streamed → the text, its usage, and one priced event', async () => {
    const app = await world.app();
    const answer = await client(app).messages.create(message());
    expect(answer.content).toEqual([expect.objectContaining({ type: 'text', text })]);
    expect(answer.usage).toMatchObject({ input_tokens: inputTokens, output_tokens: outputTokens });
    expect(await world.event(app)).toMatchObject(await servedEvent());
  });

  it('Messages, streamed → every chunk in order, the final message, and one priced event', async () => {
    const app = await world.app();
    const pieces: string[] = [];
    const stream = client(app)
      .messages.stream(message())
      .on('text', (piece) => pieces.push(piece));
    const answer = await stream.finalMessage();
    expect(pieces.length).toBeGreaterThan(5);
    expect(pieces.join('')).toBe(text);
    expect(answer).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: outputTokens } });
    expect(await world.event(app)).toMatchObject(await servedEvent());
  });

  it('the client aborts mid-stream → the event still has the whole usage, marked as aborted', async () => {
    const app = await world.app();
    const stream = client(app).messages.stream(message(`Count ${SLOWLY}.`));
    let seen = '';
    stream.on('text', (piece) => {
      seen += piece;
      stream.abort();
    });
    expect(await rejectionOf(stream.done())).toBeInstanceOf(Anthropic.APIUserAbortError);
    expect(text.startsWith(seen)).toBe(true);
    expect(seen.length).toBeLessThan(text.length);
    expect(await world.event(app)).toMatchObject({ ...(await servedEvent()), client_aborted: 1 });
  });

  it('the provider refuses → its own error reaches the SDK, and the event says provider_error', async () => {
    const app = await world.app();
    const error = await rejectionOf(client(app).messages.create(message(`You are ${OVERLOADED}.`)));
    expect(error).toBeInstanceOf(Anthropic.RateLimitError);
    expect(error).toMatchObject({ error: { error: { type: 'rate_limit_error' } } });
    expect(await world.event(app)).toMatchObject({ status: 'provider_error', cost_usd: 0 });
  });

  it('requests to the provider → its own key, the client’s version header, and no gateway headers', async () => {
    const app = await world.app();
    const before = world.simulator.requests().length;
    await client(app).messages.create(message());
    const [request] = world.simulator.requests().slice(before);
    expect(request).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': '[REDACTED]', 'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(JSON.stringify(world.simulator.requests())).not.toContain(app.key);
  });
});

describe('Anthropic SDK refusals', () => {
  it('model not allowed → PermissionDeniedError with our code', async () => {
    const app = await world.app({ allowed_models: ['claude-haiku-4-5'] });
    const error = await rejectionOf(client(app).messages.create(message()));
    expect(error).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect(error).toMatchObject({ status: 403, error: { error: { code: 'model_not_allowed' } } });
  });

  it('an unknown key → AuthenticationError with our code', async () => {
    const app = await world.app();
    const stranger = client({ ...app, key: `gw_${'x'.repeat(48)}` });
    const error = await rejectionOf(stranger.messages.stream(message()).finalMessage());
    expect(error).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(error).toMatchObject({ status: 401, error: { error: { code: 'auth_required' } } });
  });

  it('a model without a price → BadRequestError with our code', async () => {
    const app = await world.app();
    const error = await rejectionOf(client(app).messages.create({ ...message(), model: 'poet-of-tomorrow' }));
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({ status: 400, error: { error: { code: 'pricing_not_configured' } } });
  });
});
