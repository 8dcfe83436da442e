import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';
import { eventually } from '../../../support/eventually.js';
import { readParts } from '../../../support/proxy/forms.js';
import {
  DEFAULT_ANSWER,
  OVERLOADED,
  type ProviderSimulator,
  SLOWLY,
  startProviderSimulator,
} from '../../../support/proxy/provider-simulator.js';
import { PROVIDER_KEY } from '../../../support/proxy/simulated-world.js';
import { event, json, sse } from '../../../support/proxy/upstream-scripts.js';
import { sineWav } from '../../../support/proxy/wav.js';
import { rejectionOf } from '../../../support/rejection-of.js';

const MODEL = 'gpt-4.1';
const VERSION = '2.4.1';
const { text, inputTokens, outputTokens } = DEFAULT_ANSWER;
const WAV = sineWav({ seconds: 1.5 });

interface Client {
  readonly appId: string;
  readonly sdk: OpenAI;
}

let world: MobileWorld;
let simulator: ProviderSimulator;
/** A backend with the application's key. */
let backend: Client;
/** A phone with a gateway token. */
let phone: Client;

beforeAll(async () => {
  world = await startMobileWorld();
  simulator = await startProviderSimulator({ providerKey: PROVIDER_KEY });
  const talk = await world.provider({ slug: 'talk', secret: PROVIDER_KEY, baseUrl: `${simulator.url}/` });
  const listen = await world.provider({ slug: 'listen' });
  const responses = { api_style: 'responses', provider: talk.slug, model: MODEL, max_output_tokens: 800 };
  const whisper = { api_style: 'transcription', provider: listen.slug, model: 'whisper-1' };
  const endpoints = {
    responses,
    transcribe: whisper,
    'transcribe-live': { ...whisper, model: 'gpt-4o-mini-transcribe' },
    'answer-fast': { ...responses, params: { instructions: 'Be brief.' } },
  };
  const app = await world.app({ endpoints });
  backend = { appId: app.id, sdk: clientOf(app.id, app.key) };
  const mobile = await world.deviceApp('app_install');
  await changeApp(world, mobile, { config: { endpoints } });
  const token = await world.phone(mobile).signIn();
  const sdk = clientOf(mobile.id, token, { 'x-app-version': VERSION });
  phone = { appId: mobile.id, sdk };
});

afterAll(async () => {
  await world.stop();
  await simulator.stop();
});

/** The official client as its users make it: only the address, the key and the version header are ours. */
function clientOf(appId: string, apiKey: string, defaultHeaders = {}): OpenAI {
  return new OpenAI({ baseURL: `${world.baseUrl}/v1/apps/${appId}/endpoints`, apiKey, defaultHeaders, maxRetries: 0 });
}

const recording = () => toFile(WAV, 'tone.wav', { type: 'audio/wav' });

/** The latest event of a client, once this call has brought one more. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
async function eventOf({ appId }: Client, call: () => Promise<unknown>): Promise<any> {
  const list = async () => (await world.api.get(`/v1/admin/apps/${appId}/events?limit=200`)).body.events;
  const before = (await list()).length;
  await call();
  await eventually(async () => (await list()).length === before + 1, { withinMs: 10_000 });
  return (await list())[0];
}

/** Dollars per million tokens, from the published list, times what the simulator reports. */
async function answerUsd(): Promise<number> {
  const { input, output } = (await world.api.get('/v1/admin/prices')).body.prices.openai[MODEL];
  return Math.round((inputTokens * input + outputTokens * output) * 1_000) / 1e9;
}

const CLIENTS: [string, () => Client, object][] = [
  ['a backend with its API key', () => backend, { auth_method: 'api_key', user_id: null, app_version: null }],
  [
    'a phone with a gateway token',
    () => phone,
    { auth_method: 'attest', user_id: expect.any(String), app_version: VERSION },
  ],
];

describe.each(CLIENTS)('OpenAI SDK on named endpoints, %s', (_name, client, caller) => {
  it('responses.create on an endpoint with the slug "responses" → the text, its usage, one priced event', async () => {
    const recorded = await eventOf(client(), async () => {
      const response = await client().sdk.responses.create({ input: 'Say something.' });
      expect(response.output_text).toBe(text);
      expect(response.usage).toMatchObject({ input_tokens: inputTokens, output_tokens: outputTokens });
    });
    expect(recorded).toMatchObject({
      ...caller,
      endpoint_slug: 'responses',
      provider_slug: 'talk',
      model: MODEL,
      route: 'talk/v1/responses',
      cost_usd: await answerUsd(),
      cost_source: 'computed',
      status: 'ok',
    });
  });

  it('a model named by the client → the endpoint’s model answers and is billed', async () => {
    const recorded = await eventOf(client(), () =>
      client().sdk.responses.create({ model: 'gpt-5.6-sol', input: 'Say something.' }),
    );
    expect(recorded).toMatchObject({ model: MODEL, cost_usd: await answerUsd() });
  });

  it('responses.stream → every chunk in order, the completed response, one priced event', async () => {
    const pieces: string[] = [];
    const recorded = await eventOf(client(), async () => {
      const stream = client().sdk.responses.stream({ model: MODEL, input: 'Say something.' });
      stream.on('response.output_text.delta', ({ delta }) => pieces.push(delta));
      expect((await stream.finalResponse()).usage).toMatchObject({ output_tokens: outputTokens });
    });
    expect([pieces.length > 5, pieces.join('')]).toEqual([true, text]);
    expect(recorded).toMatchObject({
      ...caller,
      endpoint_slug: 'responses',
      cost_usd: await answerUsd(),
      status: 'ok',
    });
  });

  it('any slug: the `path` option of the SDK → that endpoint', async () => {
    const recorded = await eventOf(client(), async () => {
      const response = await client().sdk.responses.create({ input: 'Say something.' }, { path: '/answer-fast' });
      expect(response.output_text).toBe(text);
    });
    expect(recorded).toMatchObject({ ...caller, endpoint_slug: 'answer-fast' });
  });

  it('audio.transcriptions.create with a WAV file → the text, every byte of the file sent, priced per second', async () => {
    world.upstream.forget();
    world.upstream.script(json(200, { text: 'Beep.', usage: { type: 'duration', seconds: 90 } }));
    const recorded = await eventOf(client(), async () => {
      const body = { file: await recording(), model: 'whisper-1', language: 'en' };
      const answer = await client().sdk.audio.transcriptions.create(body, { path: '/transcribe' });
      expect(answer.text).toBe('Beep.');
    });
    const parts = await readParts(world.upstream.requests[0]);
    expect(parts).toContainEqual({ name: 'file', value: WAV, type: 'audio/wav', fileName: 'tone.wav' });
    expect(parts).toContainEqual({ name: 'model', value: 'whisper-1' });
    expect(recorded).toMatchObject({
      ...caller,
      endpoint_slug: 'transcribe',
      route: 'listen/v1/audio/transcriptions',
      cost_usd: 0.009,
      cost_source: 'computed',
    });
  });

  it('audio.transcriptions.create streamed → its events, priced by its tokens', async () => {
    const usage = { type: 'tokens', input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
    const deltas = ['Be', 'ep.'].map((delta) => event({ type: 'transcript.text.delta', delta }));
    world.upstream.script(sse([...deltas, event({ type: 'transcript.text.done', text: 'Beep.', usage })]));
    const seen: string[] = [];
    const recorded = await eventOf(client(), async () => {
      const body = { file: await recording(), model: 'anything', stream: true as const };
      const stream = await client().sdk.audio.transcriptions.create(body, { path: '/transcribe-live' });
      for await (const piece of stream) seen.push(piece.type === 'transcript.text.delta' ? piece.delta : piece.type);
    });
    expect(seen).toEqual(['Be', 'ep.', 'transcript.text.done']);
    expect(recorded).toMatchObject({ ...caller, endpoint_slug: 'transcribe-live', cost_usd: 0.00175 });
  });

  it('the client aborts mid-stream → the event has the whole usage, marked as aborted', async () => {
    const recorded = await eventOf(client(), async () => {
      const stream = await client().sdk.responses.create({ input: `Count ${SLOWLY}.`, stream: true });
      for await (const piece of stream) if (piece.type === 'response.output_text.delta') stream.controller.abort();
    });
    expect(recorded).toMatchObject({ endpoint_slug: 'responses', client_aborted: 1, cost_usd: await answerUsd() });
  });

  it('the provider’s own 429 → RateLimitError with its code, recorded as provider_error', async () => {
    const recorded = await eventOf(client(), async () => {
      const error = await rejectionOf(client().sdk.responses.create({ input: `You are ${OVERLOADED}.` }));
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    });
    expect(recorded).toMatchObject({ endpoint_slug: 'responses', status: 'provider_error', cost_usd: 0 });
  });

  it.each([false, true])(
    'more output than the endpoint allows (stream: %s) → PermissionDeniedError',
    async (stream) => {
      const body = { input: 'Hi', max_output_tokens: 801, stream };
      const error = await rejectionOf(client().sdk.responses.create(body));
      expect(error).toBeInstanceOf(OpenAI.PermissionDeniedError);
      expect(error).toMatchObject({ status: 403, code: 'max_output_tokens_exceeded' });
    },
  );

  it('background → BadRequestError with our code', async () => {
    const error = await rejectionOf(client().sdk.responses.create({ input: 'Hi', background: true }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: expect.stringContaining('background'),
    });
  });

  it('an endpoint that does not exist, and other calls of the SDK → NotFoundError with our code', async () => {
    const { sdk } = client();
    const missing = await rejectionOf(sdk.responses.create({ input: 'Hi' }, { path: '/nobody' }));
    expect(missing).toBeInstanceOf(OpenAI.NotFoundError);
    expect(missing).toMatchObject({ status: 404, code: 'endpoint_not_found' });
    const read = await rejectionOf(sdk.responses.retrieve('resp_1'));
    expect(read).toMatchObject({ status: 404, code: 'invalid_request' });
    expect(await rejectionOf(sdk.models.list())).toMatchObject({ status: 404, code: 'invalid_request' });
  });
});

describe('OpenAI SDK on named endpoints, credentials', () => {
  it('an unknown key → AuthenticationError', async () => {
    const error = await rejectionOf(clientOf(backend.appId, 'gw_nobody').responses.create({ input: 'Hi' }));
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'auth_required' });
  });

  it('a gateway token without X-App-Version → BadRequestError', async () => {
    const error = await rejectionOf(clientOf(phone.appId, phone.sdk.apiKey ?? '').responses.create({ input: 'Hi' }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('requests to the provider → its own key and no gateway headers', async () => {
    await backend.sdk.responses.create({ input: 'Hi' });
    const { requests } = simulator;
    expect(requests().at(-1)).toMatchObject({ path: '/v1/responses', headers: { authorization: '[REDACTED]' } });
    for (const { sdk } of [backend, phone]) expect(JSON.stringify(requests())).not.toContain(sdk.apiKey);
  });
});
