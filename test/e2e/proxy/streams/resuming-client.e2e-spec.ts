import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readStream, type Transport } from '../../../../examples/resume/resumable-stream.js';
import { cuttingTransport } from '../../../support/proxy/cutting-transport.js';
import { StreamClient } from '../../../support/proxy/stream-client.js';
import { dieAfter, event, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const PATH = 'v1/chat/completions';
const USAGE = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
const EVENTS = [
  ...Array.from({ length: 20 }, (_, at) => event({ text: `${'é✓😀'.repeat(at)}` })),
  ': c\r\n\r\n',
  USAGE,
];

let world: World;

beforeAll(async () => {
  world = await startWorld({ env: { STREAM_HEARTBEAT_SECONDS: '1' } });
});

afterAll(() => world.stop());

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
