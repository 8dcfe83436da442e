import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { readStream, type Transport } from '../../../../examples/resume/resumable-stream.js';
import { resumingFetch } from '../../../../examples/resume/resuming-fetch.js';
import { type CuttingProxy, startCuttingProxy } from '../../../support/proxy/cutting-proxy.js';
import { cuttingTransport } from '../../../support/proxy/cutting-transport.js';
import { type ProviderSimulator, startProviderSimulator } from '../../../support/proxy/provider-simulator.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { PROVIDER_KEY } from '../../../support/proxy/simulated-world.js';
import { StreamClient } from '../../../support/proxy/stream-client.js';
import { dieAfter, event, sse } from '../../../support/proxy/upstream-scripts.js';
import { seeded } from '../../../support/seeded.js';
import { startWorld, type World } from '../../../support/world.js';

const PATH = 'v1/chat/completions';
const USAGE = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
const EVENTS = [
  ...Array.from({ length: 20 }, (_, at) => event({ text: `${'é✓😀'.repeat(at)}` })),
  ': c\r\n\r\n',
  USAGE,
];

const SAID = {
  text: Array.from({ length: 400 }, (_, at) => `${at} naïve, 東京, 🙂;`).join(' '),
  inputTokens: 1_234,
  outputTokens: 567,
};

const chance = seeded(44);

let world: World;
let simulator: ProviderSimulator;
let proxy: CuttingProxy;

beforeAll(async () => {
  world = await startWorld({ env: { STREAM_HEARTBEAT_SECONDS: '1' } });
  simulator = await startProviderSimulator({ providerKey: PROVIDER_KEY, answer: SAID });
  proxy = await startCuttingProxy(Number(new URL(world.baseUrl).port), () => Math.floor(chance() * 40_000));
});

afterAll(async () => {
  await proxy.stop();
  await world.stop();
  await simulator.stop();
});

async function readAll(client: StreamClient, send: Transport): Promise<string[]> {
  const events: string[] = [];
  await readStream(
    {
      app: `${world.baseUrl}/v1/apps/${client.calls.appId}`,
      path: `/proxy/${client.calls.slug}/${PATH}`,
      headers: { authorization: `Bearer ${client.calls.key}` },
      body: { model: 'gpt-4.1', stream: true, stream_options: { include_usage: true }, messages: [] },
      idempotencyKey: randomUUID(),
    },
    (one) => events.push(one),
    send,
  );
  return events;
}

it('connections cut at every byte, even before the head → every event once, one call of the provider, one usage event', async () => {
  const client = await StreamClient.create(world);
  world.upstream.script(sse(EVENTS, { delayMs: 5 }));
  const before = world.upstream.requests.length;
  const cuts = [0, 1, 17, 60, 200, 5, 400, 900];
  expect(
    await readAll(
      client,
      cuttingTransport((answer) => cuts[answer]),
    ),
  ).toEqual(EVENTS);
  expect(world.upstream.requests.length - before).toBe(1);
  expect(await client.calls.events()).toMatchObject([{ status: 'ok', output_tokens: 5 }]);
});

it('a silent provider, with comments in between → only the events', async () => {
  const client = await StreamClient.create(world);
  world.upstream.script(sse(EVENTS.slice(0, 3), { delayMs: 1_300 }));
  expect(
    await readAll(
      client,
      cuttingTransport((answer) => (answer === 0 ? 25 : undefined)),
    ),
  ).toEqual(EVENTS.slice(0, 3));
});

it('the provider breaks off → the received events, then an error that says so', async () => {
  const client = await StreamClient.create(world);
  world.upstream.script(dieAfter(200, EVENTS.join('')));
  await expect(
    readAll(
      client,
      cuttingTransport(() => undefined),
    ),
  ).rejects.toThrow('failed');
});

describe('official clients with a fetch that resumes, over connections that are lost at random', () => {
  const { text } = SAID;
  async function appOf(type: string) {
    const { slug } = await world.provider({ type, secret: PROVIDER_KEY, baseUrl: `${simulator.url}/` });
    const selected = { [slug]: { allowed_paths: [], allowed_models: [] } };
    const routing = { providers: { mode: 'selected', selected }, model_rewrites: {} };
    const { id, key } = await world.app({ streams: { resume_seconds: 60 }, routing });
    const app = `http://127.0.0.1:${proxy.port}/v1/apps/${id}`;
    const pausesMs = Array<number>(100).fill(0);
    return {
      key,
      url: `${app}/proxy/${slug}`,
      fetch: resumingFetch(app, { pausesMs }),
      calls: new ProxyClient(world, id, key, slug, ''),
    };
  }

  async function expectOneCall({ calls }: Awaited<ReturnType<typeof appOf>>, before: { cuts: number; asked: number }) {
    expect(proxy.cuts() - before.cuts).toBeGreaterThan(1);
    expect(simulator.requests().length - before.asked).toBe(1);
    expect(await calls.events()).toMatchObject([{ status: 'ok', output_tokens: SAID.outputTokens }]);
  }

  const now = () => ({ cuts: proxy.cuts(), asked: simulator.requests().length });

  it('OpenAI → one whole stream, one call', async () => {
    const [app, before] = [await appOf('openai'), now()];
    const client = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.key, maxRetries: 0, fetch: app.fetch });
    const response = await client.responses.stream({ model: 'gpt-4.1', input: 'Say something.' }).finalResponse();
    expect(response.output_text).toBe(text);
    await expectOneCall(app, before);
  });

  it('Anthropic → one whole stream, one call', async () => {
    const [app, before] = [await appOf('anthropic'), now()];
    const { key: apiKey, fetch } = app;
    const client = new Anthropic({ baseURL: app.url, apiKey, authToken: null, maxRetries: 0, fetch });
    const messages = [{ role: 'user' as const, content: 'Say something.' }];
    const stream = client.messages.stream({ model: 'claude-sonnet-5', max_tokens: 9_000, messages });
    expect(await stream.finalText()).toBe(text);
    await expectOneCall(app, before);
  });

  it('Gemini → one whole stream, one call', async () => {
    const [app, before] = [await appOf('gemini'), now()];
    const httpOptions = { baseUrl: app.url, fetch: app.fetch };
    const client = new GoogleGenAI({ apiKey: app.key, apiVersion: 'v1beta', httpOptions });
    const call = { model: 'gemini-2.5-flash', contents: 'Say something.' };
    let said = '';
    for await (const piece of await client.models.generateContentStream(call)) said += piece.text ?? '';
    expect(said).toBe(text);
    await expectOneCall(app, before);
  });
});
