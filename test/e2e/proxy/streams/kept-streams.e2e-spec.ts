import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { read } from '../../../support/proxy/proxy-client.js';
import { StreamClient, streamOf, told } from '../../../support/proxy/stream-client.js';
import { dieAfter, event, hold, json, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const PATH = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', stream: true, stream_options: { include_usage: true }, messages: [] };
const USAGE = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } };
const PIECES = [
  event({ choices: [{ delta: { content: 'one ✓' } }] }),
  event({ choices: [{ delta: { content: 'two' } }] }),
  event(USAGE),
  event('[DONE]'),
];
const TEXT = PIECES.join('');
const WITHIN = { withinMs: 15_000 };

let world: World;
let client: StreamClient;

beforeAll(async () => {
  world = await startWorld({ env: { ABORT_DRAIN_SECONDS: '0' } });
  client = await StreamClient.create(world);
});

afterAll(() => world.stop());

const call = () => client.calls.call(PATH, { body: BODY });
const refusal = ({ status, body }: { status: number; body: Buffer }) => [
  status,
  JSON.parse(body.toString()).error.code,
];

describe('a kept answer', () => {
  it('complete → the same bytes from every offset, and its length', async () => {
    world.upstream.script(sse(PIECES));
    const answer = await call();
    const stream = streamOf(answer);
    expect(answer.body.toString()).toBe(TEXT);
    const length = answer.body.length;
    for (let offset = 0; offset <= length; offset++) {
      const again = await client.read(stream, offset);
      expect([again.status, again.isComplete, again.body.equals(answer.body.subarray(offset))]).toEqual([
        200,
        true,
        true,
      ]);
      expect(again.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-gateway-stream-offset': String(offset),
        'x-gateway-stream-state': 'complete',
        'x-gateway-stream-length': String(length),
      });
    }
    const beyond = await client.read(stream, length + 1);
    expect(refusal(beyond)).toEqual([416, 'invalid_request']);
    expect(beyond.headers['x-gateway-stream-length']).toBe(String(length));
    expect(await client.calls.events()).toMatchObject([{ status: 'ok', input_tokens: 10, output_tokens: 5 }]);
  });

  it.each(['-1', '1.5', 'x', ''])('offset "%s" → refused', async (offset) => {
    world.upstream.script(sse(PIECES));
    expect(refusal(await client.read(streamOf(await call()), offset))).toEqual([400, 'invalid_request']);
  });

  it('not streamed → also kept; an error from the provider → not kept', async () => {
    const own = await StreamClient.create(world);
    world.upstream.script(json(200, { choices: [], usage: USAGE.usage }));
    const answer = await own.calls.call(PATH, { body: { ...BODY, stream: false, stream_options: undefined } });
    expect((await own.read(streamOf(answer))).body).toEqual(answer.body);
    world.upstream.script(json(400, { error: {} }));
    const refused = await own.calls.call(PATH, { body: BODY });
    expect(refused.headers['x-gateway-stream']).toBeUndefined();
  });

  it('the client disconnects in the middle → the answer is still read, can be resumed while it arrives, and has one event with its usage', async () => {
    const own = await StreamClient.create(world);
    const held = hold(PIECES[0] ?? '');
    world.upstream.script(held.script);
    const { request, head } = own.calls.open(PATH, { body: BODY });
    const message = await head;
    await once(message, 'data');
    request.destroy();
    const stream = streamOf(message);
    const readers = await Promise.all([0, 7, 7].map((offset) => own.open(stream, offset)));
    expect(readers.map(({ headers }) => headers['x-gateway-stream-state'])).toEqual(['live', 'live', 'live']);
    expect(readers[0]?.headers['x-gateway-stream-length']).toBeUndefined();
    const tails = readers.map(read);
    held.release(PIECES.slice(1).join(''));
    const texts = (await Promise.all(tails)).map((answer) => told(answer));
    expect(texts.map(({ text, isComplete }) => [text, isComplete])).toEqual([
      [TEXT, true],
      [Buffer.from(TEXT).subarray(7).toString(), true],
      [Buffer.from(TEXT).subarray(7).toString(), true],
    ]);
    expect(await own.calls.events()).toMatchObject([{ status: 'ok', client_aborted: 1, output_tokens: 5 }]);
  });

  it('the provider breaks off → the received part, cut off; a later read → failed', async () => {
    const own = await StreamClient.create(world);
    world.upstream.script(dieAfter(40, TEXT));
    const answer = await own.calls.call(PATH, { body: BODY });
    expect(answer.isComplete).toBe(false);
    const again = await own.read(streamOf(answer), 10);
    expect(told(again)).toEqual({
      state: 'failed',
      length: 40,
      text: Buffer.from(TEXT).subarray(10, 40).toString(),
      isComplete: false,
    });
  });

  it('longer than max_bytes → the client gets all of it, readers get what is kept, then lost', async () => {
    const own = await StreamClient.create(world, { streams: { resume_seconds: 60, max_bytes: 50 } });
    world.upstream.script(sse(PIECES));
    const answer = await own.calls.call(PATH, { body: BODY });
    expect([answer.body.toString(), answer.isComplete]).toEqual([TEXT, true]);
    const again = await own.read(streamOf(answer));
    expect(told(again)).toMatchObject({ state: 'lost', length: 50, isComplete: false });
    expect(again.body).toEqual(answer.body.subarray(0, 50));
  });

  it('stopped by DELETE → the provider’s call is cancelled, readers are cut off, one event; again → 204', async () => {
    const own = await StreamClient.create(world);
    const held = hold(PIECES[0] ?? '');
    world.upstream.script(held.script);
    const { head } = own.calls.open(PATH, { body: BODY });
    const message = await head;
    const first = read(message);
    const tail = read(await own.open(streamOf(message)));
    expect((await own.stop(streamOf(message))).status).toBe(204);
    await eventually(() => held.open() === 0, WITHIN);
    expect([(await first).isComplete, (await tail).isComplete]).toEqual([false, false]);
    expect(told(await own.read(streamOf(message)))).toMatchObject({ state: 'stopped', isComplete: false });
    expect((await own.stop(streamOf(message))).status).toBe(204);
    expect(await own.calls.events()).toMatchObject([{ status: 'ok', client_aborted: 1, cost_source: 'unresolved' }]);
  });

  it('a slow client → does not slow the provider, and gets every byte', async () => {
    const own = await StreamClient.create(world, { streams: { resume_seconds: 60, max_bytes: 4_194_304 } });
    const large = 'x'.repeat(3 * 1024 * 1024);
    world.upstream.script(sse([event(large), event(USAGE)]));
    const message = await own.calls.open(PATH, { body: BODY }).head;
    const stream = streamOf(message);
    const fast = await own.read(stream);
    const slow = await read(message);
    expect([fast.isComplete, slow.isComplete, slow.body.equals(fast.body)]).toEqual([true, true, true]);
  });

  it('more than sixteen readers → 429', async () => {
    const own = await StreamClient.create(world);
    const held = hold(PIECES[0] ?? '');
    world.upstream.script(held.script);
    const message = await own.calls.open(PATH, { body: BODY }).head;
    const readers = await Promise.all(Array.from({ length: 16 }, () => own.open(streamOf(message))));
    const refused = await own.read(streamOf(message));
    expect(refusal(refused)).toEqual([429, 'rate_limited']);
    expect(JSON.parse(refused.body.toString()).error.data).toEqual({ scope: 'stream_readers' });
    held.release();
    await Promise.all(readers.map(read));
  });
});

describe('who may read a kept answer', () => {
  it('another application, a forged id, another user → 404; another key of the application → the answer', async () => {
    const authentication = { type: 'api_key', end_user: { source: 'header', header: 'x-user' } };
    const [own, other] = await Promise.all([
      StreamClient.create(world, { authentication }),
      StreamClient.create(world),
    ]);
    world.upstream.script(sse(PIECES));
    const answer = await own.calls.call(PATH, { body: BODY, headers: ['x-user', 'ada'] });
    const stream = streamOf(answer);
    const as = (user: string, key = own.calls.key) =>
      fetch(`${world.baseUrl}/v1/apps/${own.calls.appId}/streams/${stream}`, {
        headers: { authorization: `Bearer ${key}`, 'x-user': user },
      });
    const { body } = await world.api.post(`/v1/admin/apps/${own.calls.appId}/keys`, { name: 'second' });
    expect(await (await as('ada', body.secret)).text()).toBe(TEXT);
    expect((await as('bob')).status).toBe(404);
    expect(refusal(await other.read(stream))).toEqual([404, 'stream_not_found']);
    for (let at = 3; at < stream.length; at += 7) {
      const forged = `${stream.slice(0, at)}${stream[at] === 'A' ? 'B' : 'A'}${stream.slice(at + 1)}`;
      expect(refusal(await client.read(forged))).toEqual([404, 'stream_not_found']);
    }
    await world.api.post(`/v1/admin/apps/${own.calls.appId}/users/ada/block`, {});
    await eventually(async () => (await as('ada')).status === 403, WITHIN);
  });

  it('expired → 410 for the owner, 404 for anybody else', async () => {
    const own = await StreamClient.create(world, { streams: { resume_seconds: 1 } });
    world.upstream.script(sse(PIECES));
    const stream = streamOf(await own.calls.call(PATH, { body: BODY }));
    await eventually(async () => (await own.read(stream)).status === 410, WITHIN);
    expect(refusal(await own.read(stream))).toEqual([410, 'stream_expired']);
    expect(refusal(await client.read(stream))).toEqual([404, 'stream_not_found']);
  });

  it('turned off → kept answers can no longer be read; an application without streams → no stream id in its answers', async () => {
    const own = await StreamClient.create(world);
    world.upstream.script(sse(PIECES));
    const stream = streamOf(await own.calls.call(PATH, { body: BODY }));
    const path = `/v1/admin/apps/${own.calls.appId}`;
    const { body } = await world.api.get(path);
    const { streams: _on, ...config } = body.app.config;
    await world.api.put(path, { name: body.app.name, revision: body.app.revision, config });
    await eventually(async () => (await own.read(stream)).status === 410, WITHIN);
    expect((await own.calls.call(PATH, { body: BODY })).headers['x-gateway-stream']).toBeUndefined();
  });
});
