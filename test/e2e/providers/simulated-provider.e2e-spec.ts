import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { codeOf } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = 'simulated-1';
const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];
const SIMULATED = {
  ...{ type: 'simulated', name: 'Simulated provider', secret: 'no-key-is-needed' },
  pricing: { [MODEL]: { input: 0.5, output: 2 } },
};

let world: World;
let client: OpenAI;
let app: { id: string; key: string };

beforeAll(async () => {
  world = await startWorld({ env: { REDIS_URL: '', SIMULATED_PROVIDER: 'true' } });
  const { status } = await world.api.post('/v1/admin/providers', SIMULATED);
  expect(status).toBe(201);
  app = await world.app({
    authentication: { type: 'api_key' },
    routing: { providers: { mode: 'all' }, model_rewrites: {} },
    endpoints: { answer: { provider: 'simulated', model: MODEL, api_style: 'responses' } },
  });
  client = new OpenAI({ baseURL: `${world.baseUrl}/v1/apps/${app.id}/proxy/simulated/v1`, apiKey: app.key });
});
afterAll(() => world.stop());

async function newestEvent() {
  const { body } = await world.api.get(`/v1/admin/apps/${app.id}/events?limit=1`);
  return body.events[0];
}

describe('the simulated provider', () => {
  it('Chat Completions, streamed by the official SDK → text in chunks, recorded and priced', async () => {
    const stream = await client.chat.completions.create({ model: MODEL, stream: true, messages: MESSAGES });
    const pieces: string[] = [];
    for await (const { choices } of stream) pieces.push(choices[0]?.delta.content ?? '');
    expect(pieces.length).toBeGreaterThan(20);
    expect(pieces.join('')).toContain('This answer is simulated');
    await eventually(async () => (await newestEvent()) !== undefined, { withinMs: 10_000 });
    const event = await newestEvent();
    expect(event).toMatchObject({ provider: 'simulated', model: MODEL, status: 'ok', cost_source: 'computed' });
    const expected = (event.input_tokens * 0.5 + event.output_tokens * 2) / 1_000_000;
    expect(event.cost_usd).toBeCloseTo(expected, 10);
    expect(event.output_tokens).toBeGreaterThan(20);
  });

  it('an output ceiling → the answer is truncated there and says so', async () => {
    const { choices, usage } = await client.chat.completions.create({
      ...{ model: MODEL, messages: MESSAGES, max_completion_tokens: 5 },
    });
    expect([choices[0]?.finish_reason, usage?.completion_tokens]).toEqual(['length', 5]);
  });

  it('Responses, streamed or not, also through a named endpoint', async () => {
    const whole = await client.responses.create({ model: MODEL, input: 'Hello' });
    expect([whole.status, whole.output_text]).toEqual(['completed', expect.stringContaining('simulated')]);
    const text: string[] = [];
    for await (const event of await client.responses.create({ model: MODEL, input: 'Hello', stream: true })) {
      if (event.type === 'response.output_text.delta') text.push(event.delta);
    }
    expect(text.join('')).toBe(whole.output_text);
    const named = await world.as(app.key).post(`/v1/apps/${app.id}/endpoints/answer`, { input: 'Hello' });
    expect([named.status, named.body.status]).toEqual([200, 'completed']);
  });

  it('a client that disconnects in the middle → its call ends and is recorded', async () => {
    const stop = new AbortController();
    const stream = await client.chat.completions.create(
      { model: MODEL, stream: true, messages: MESSAGES },
      { signal: stop.signal },
    );
    for await (const _piece of stream) break;
    stop.abort();
    await eventually(async () => (await newestEvent()).client_aborted === 1, { withinMs: 10_000 });
  });

  it('two hundred calls at once → each answered', async () => {
    const calls = Array.from({ length: 200 }, () =>
      client.chat.completions.create({ model: MODEL, messages: MESSAGES }),
    );
    for (const { choices } of await Promise.all(calls)) expect(choices[0]?.message.content).toContain('simulated');
  });

  it('setting off → no such type, and no answers', async () => {
    const other = await startWorld({ env: { REDIS_URL: '' } });
    try {
      const { body } = await other.as(undefined).get('/v1/console/capabilities');
      expect(body.simulatedProvider).toBe(false);
      const direct = await other.provider({ baseUrl: 'https://simulated.example.com/' });
      const { id, key } = await other.app();
      const call = `/v1/apps/${id}/proxy/${direct.slug}/v1/chat/completions`;
      const answer = await other.as(key).post(call, { model: 'gpt-4o-mini', messages: MESSAGES });
      expect(codeOf(answer)).toEqual([502, 'provider_error']);
    } finally {
      await other.stop();
    }
  });
});
