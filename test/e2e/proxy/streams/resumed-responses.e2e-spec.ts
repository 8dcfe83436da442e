import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { read } from '../../../support/proxy/proxy-client.js';
import { StreamClient } from '../../../support/proxy/stream-client.js';
import { hold, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const ID = 'resp_0a1b2c';
const named = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const EVENTS = [
  named('response.created', { response: { id: ID }, sequence_number: 0 }),
  named('response.output_text.delta', { delta: 'Hé', sequence_number: 1 }),
  named('response.output_text.delta', { delta: 'llo', sequence_number: 2 }),
  named('response.completed', {
    response: { id: ID, usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
    sequence_number: 3,
  }),
];
const BODY = { model: 'gpt-4.1', input: 'Hi', stream: true };

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

const get = (client: StreamClient, id: string, query: string) =>
  client.calls.open(`v1/responses/${id}${query}`, { method: 'GET' }).head.then(read);
const refusal = ({ status, body }: { status: number; body: Buffer }) => [
  status,
  JSON.parse(body.toString()).error.code,
];

it('a response of the caller → the complete events after the sequence number, live or ended; the provider is not called', async () => {
  const client = await StreamClient.create(world);
  const held = hold(EVENTS.slice(0, 2).join(''));
  world.upstream.script(held.script);
  const first = client.calls.open('v1/responses', { body: BODY });
  const message = await first.head;
  await once(message, 'data');
  first.request.destroy();
  const tail = get(client, ID, '?stream=true&starting_after=0');
  held.release(EVENTS.slice(2).join(''));
  const rest = await tail;
  expect([rest.status, rest.isComplete, rest.body.toString()]).toEqual([200, true, EVENTS.slice(1).join('')]);
  expect(rest.headers['content-type']).toBe('text/event-stream');
  expect((await get(client, ID, '?stream=true')).body.toString()).toBe(EVENTS.join(''));
  expect((await get(client, ID, '?stream=true&starting_after=3')).body.toString()).toBe('');
  expect(world.upstream.requests.filter(({ method }) => method === 'GET')).toEqual([]);
  await client.calls.events();
});

it('a response of another application, an unknown one → 404; kept only by the provider → 410', async () => {
  const [client, other] = [await StreamClient.create(world), await StreamClient.create(world)];
  const id = 'resp_of_another';
  world.upstream.script(sse(EVENTS.map((event) => event.replaceAll(ID, id))));
  await client.calls.call('v1/responses', { body: BODY });
  expect(refusal(await get(other, id, '?stream=true'))).toEqual([404, 'stream_not_found']);
  expect(refusal(await get(client, 'resp_unknown', '?stream=true'))).toEqual([404, 'stream_not_found']);
  const short = await StreamClient.create(world, { streams: { resume_seconds: 1, max_bytes: 10 } });
  const lost = 'resp_expired';
  world.upstream.script(sse(EVENTS.map((event) => event.replaceAll(ID, lost))));
  await short.calls.call('v1/responses', { body: BODY });
  expect(refusal(await get(short, lost, '?stream=true'))).toEqual([410, 'stream_expired']);
});

it('no stream requested, streams not kept, path not allowed → refused as before', async () => {
  const client = await StreamClient.create(world);
  expect(refusal(await get(client, ID, ''))).toEqual([403, 'path_not_allowed']);
  const off = await StreamClient.create(world, { streams: { resume_seconds: 0 } });
  expect(refusal(await get(off, ID, '?stream=true'))).toEqual([403, 'path_not_allowed']);
  const narrow = await StreamClient.create(world, { policy: { allowed_paths: ['v1/chat/completions'] } });
  expect(refusal(await get(narrow, ID, '?stream=true'))).toEqual([403, 'path_not_allowed']);
});
