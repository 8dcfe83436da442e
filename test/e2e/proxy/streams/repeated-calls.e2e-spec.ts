import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { read } from '../../../support/proxy/proxy-client.js';
import { StreamClient, streamOf } from '../../../support/proxy/stream-client.js';
import { dieAfter, event, hold, inTurn, json, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const PATH = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', stream: true, stream_options: { include_usage: true }, messages: [] };
const USAGE = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
const FIRST = event({ choices: [{ delta: { content: 'one' } }] });
const TEXT = `${FIRST}${USAGE}`;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

async function clientWithKey(options = {}) {
  const client = await StreamClient.create(world, options);
  const headers = ['idempotency-key', randomUUID()];
  const calls = () => world.upstream.requests.length;
  const before = calls();
  return {
    client,
    headers,
    call: (body: object = BODY) => client.calls.call(PATH, { body, headers }),
    open: () => client.calls.open(PATH, { body: BODY, headers }),
    providerCalls: () => calls() - before,
  };
}

const refusal = ({ status, body }: { status: number; body: Buffer }) => [
  status,
  JSON.parse(body.toString()).error.code,
];

describe('a repeated call', () => {
  it('many at once, then again → one provider call, the same bytes, one event; the key is not forwarded', async () => {
    const { client, call, providerCalls } = await clientWithKey();
    world.upstream.script(sse([FIRST, USAGE], { delayMs: 50 }));
    const answers = await Promise.all(Array.from({ length: 8 }, () => call()));
    answers.push(await call());
    expect(new Set(answers.map(({ body }) => body.toString()))).toEqual(new Set([TEXT]));
    expect(new Set(answers.map(streamOf)).size).toBe(1);
    expect(answers.every(({ isComplete }) => isComplete)).toBe(true);
    expect(providerCalls()).toBe(1);
    expect(world.upstream.requests.at(-1)?.header('idempotency-key')).toBeUndefined();
    expect(await client.calls.events()).toMatchObject([{ status: 'ok', output_tokens: 5 }]);
  });

  it('the first connection is lost before the answer begins → the same call', async () => {
    const { client, open, call, providerCalls } = await clientWithKey();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const first = open();
    await eventually(() => held.open() === 1, { withinMs: 15_000 });
    first.request.destroy();
    const again = call();
    held.release(USAGE);
    expect((await again).body.toString()).toBe(TEXT);
    expect(providerCalls()).toBe(1);
    await client.calls.events();
  });

  it('another body → 422; another user → a separate call', async () => {
    const authentication = { type: 'api_key', end_user: { source: 'header', header: 'x-user' } };
    const { client, headers, providerCalls } = await clientWithKey({ authentication });
    world.upstream.script(sse([FIRST, USAGE]));
    const as = (user: string, body: object) => client.calls.call(PATH, { body, headers: [...headers, 'x-user', user] });
    const first = await as('ada', BODY);
    expect(refusal(await as('ada', { ...BODY, top_p: 1 }))).toEqual([422, 'idempotency_mismatch']);
    const other = await as('bob', BODY);
    expect(streamOf(other)).not.toBe(streamOf(first));
    expect(providerCalls()).toBe(2);
  });

  it('refused or failed → the key can be used again', async () => {
    const { call, providerCalls } = await clientWithKey();
    expect(refusal(await call({ ...BODY, model: 'nobody-knows' }))[0]).toBe(400);
    world.upstream.script(inTurn(json(500, { error: {} }), sse([FIRST, USAGE])));
    expect((await call()).status).toBe(500);
    expect((await call()).body.toString()).toBe(TEXT);
    expect(providerCalls()).toBe(2);
  });

  it('broken off after its start → the same bytes, cut off; the provider is not called again', async () => {
    const { call, providerCalls } = await clientWithKey();
    world.upstream.script(dieAfter(30, TEXT));
    const [first, again] = [await call(), await call()];
    expect([again.isComplete, again.body]).toEqual([false, first.body]);
    expect(providerCalls()).toBe(1);
  });

  it('stopped → 409', async () => {
    const { client, open, call } = await clientWithKey();
    world.upstream.script(hold(FIRST).script);
    const message = await open().head;
    const first = read(message);
    await client.stop(streamOf(message));
    await first;
    expect(refusal(await call())).toEqual([409, 'idempotency_stream_ended']);
  });

  it('expired → a new call', async () => {
    const { call } = await clientWithKey({ streams: { resume_seconds: 1 } });
    world.upstream.script(sse([FIRST, USAGE]));
    const first = streamOf(await call());
    await eventually(async () => streamOf(await call()) !== first, { withinMs: 15_000 });
  });

  it.each(['', 'a'.repeat(256), 'caf\u00e9'])('key "%s" → refused', async (key) => {
    const { client } = await clientWithKey();
    const answer = await client.calls.call(PATH, { body: BODY, headers: ['idempotency-key', key] });
    expect(refusal(answer)).toEqual([400, 'invalid_request']);
  });

  it('the answer has expired, the key not yet, because its end was not written → 409', async () => {
    const { client, call, providerCalls } = await clientWithKey({ streams: { resume_seconds: 1 } });
    world.upstream.script(sse([FIRST, USAGE]));
    const stream = streamOf(await call());
    await eventually(async () => (await client.read(stream)).status === 410, { withinMs: 30_000 });
    await world.dataSource.query("UPDATE stream_claims SET expires_at = now() + interval '1 hour' WHERE stream = $1", [
      stream,
    ]);
    expect(refusal(await call())).toEqual([409, 'idempotency_stream_ended']);
    expect(providerCalls()).toBe(1);
  });

  it('an application without streams → the key is forwarded to the provider, and each call is separate', async () => {
    const { client, call, providerCalls } = await clientWithKey({ streams: { resume_seconds: 0 } });
    world.upstream.script(sse([FIRST, USAGE]));
    await call();
    await call();
    expect(providerCalls()).toBe(2);
    expect(world.upstream.requests.at(-1)?.header('idempotency-key')).toBeDefined();
    await client.calls.events(2);
  });

  it('a slow first reader that disconnects → the repeated call gets all of the answer', async () => {
    const { open, call } = await clientWithKey();
    const held = hold(FIRST);
    world.upstream.script(held.script);
    const first = open();
    const message = await first.head;
    await once(message, 'data');
    first.request.destroy();
    const again = call();
    held.release(USAGE);
    expect((await again).body.toString()).toBe(TEXT);
  });
});
