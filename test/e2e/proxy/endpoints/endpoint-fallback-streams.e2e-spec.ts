import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { eventually } from '../../../support/eventually.js';
import {
  type ChainTarget,
  EndpointChain,
  RESPONSE,
  RESPONSE_USD,
  refusingUrl,
  targetOf,
} from '../../../support/proxy/endpoint-chain.js';
import { read } from '../../../support/proxy/proxy-client.js';
import { dieAfter, hold, json, type Script, slowHeaders, sse } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const named = (type: string, members: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const CREATED = named('response.created', { response: { id: 'resp_1', error: null, usage: null } });
const IN_PROGRESS = named('response.in_progress', { response: { id: 'resp_1' } });
const ITEM = named('response.output_item.added', { item: { type: 'message', content: [] } });
const PART = named('response.content_part.added', { part: { type: 'output_text', text: '' } });
const OPENING = CREATED + IN_PROGRESS + ITEM + PART;
const DELTA = named('response.output_text.delta', { delta: 'Hi' });
const COMPLETED = named('response.completed', { response: { ...RESPONSE } });
const ERROR = named('error', { code: 'server_error', message: 'The server had an error.' });
const FAILED = named('response.failed', { response: { error: { code: 'rate_limit_exceeded' } } });
const SERVED = OPENING + DELTA + COMPLETED;

const COMPRESSED = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' };

let world: World;
let chain: EndpointChain;

beforeAll(async () => {
  // So few connections that one that is not returned makes a later test fail.
  world = await startWorld({ env: { ABORT_DRAIN_SECONDS: '1', PROVIDER_MAX_CONNECTIONS: '4' } });
});

afterEach(() => chain.stop());

afterAll(() => world.stop());

async function chained(...targets: (Script | ChainTarget)[]): Promise<EndpointChain> {
  chain = await EndpointChain.create(world, targets.map(targetOf));
  return chain;
}

const streaming = { body: { input: 'Hi', stream: true } };

describe('a stream that fails before its first content', () => {
  it.each<[string, Script, error: string]>([
    ['an error event first', sse([ERROR]), 'server_error'],
    ['response.failed', sse([CREATED, FAILED]), 'rate_limit_exceeded'],
    ['an error after everything without content', sse([OPENING + ERROR]), 'server_error'],
    ['an error in single bytes', sse(Array.from(CREATED + ERROR)), 'server_error'],
    ['an error behind comments and pings', sse([': wait\n\n', named('ping'), ': wait\n\n', ERROR]), 'server_error'],
    ['CRLF and a byte order mark', sse([`\ufeff${(CREATED + ERROR).replaceAll('\n', '\r\n')}`]), 'server_error'],
    ['an error of the second family', sse(['data: {"error":"busy","code":"No."}\n\n']), 'error'],
    [
      'a compressed stream',
      sse([gzipSync(CREATED + ERROR)], { headers: { 'content-encoding': 'gzip' } }),
      'server_error',
    ],
    ['an error, and then content', sse([CREATED + ERROR + DELTA + COMPLETED]), 'server_error'],
  ])('%s → only the fallback’s stream reaches the client, byte for byte', async (_name, script, error) => {
    await chained(script, sse([OPENING, DELTA, COMPLETED]));
    const answer = await chain.call(streaming);
    expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, SERVED]);
    expect(chain.asked).toEqual([1, 1]);
    expect(await chain.attempts()).toMatchObject([
      { provider_slug: chain.slugs[0], status: 200, error },
      { provider_slug: chain.slugs[1], status: 200, error: null },
    ]);
    expect(await chain.client.events()).toMatchObject([
      { status: 'ok', provider_slug: chain.slugs[1], cost_usd: RESPONSE_USD, input_tokens: 1000 },
    ]);
  });

  it('a stream that breaks before its first content → the fallback answers', async () => {
    await chained(dieAfter(CREATED.length, CREATED), sse([SERVED]));
    expect((await chain.call(streaming)).body.toString()).toBe(SERVED);
    expect((await chain.attempts())?.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('a stream, then a plain refusal, then a stream → each target in turn', async () => {
    await chained(sse([CREATED, ERROR]), json(429, {}), sse([CREATED, FAILED]), sse([SERVED]));
    expect((await chain.call(streaming)).body.toString()).toBe(SERVED);
    expect(chain.asked).toEqual([1, 1, 1, 1]);
  });

  it('the provider keeps its failed stream open → its call is cancelled, and its connection is free again', async () => {
    const held = hold(CREATED + ERROR);
    await chained(held.script, sse([SERVED]));
    for (let at = 0; at < 6; at++) expect((await chain.call(streaming)).body.toString()).toBe(SERVED);
    expect(held.open()).toBeLessThanOrEqual(1);
  });

  it('a compressed stream that arrives completely before it is read → its connection is free again', async () => {
    await chained(json(200, gzipSync(CREATED + ERROR), COMPRESSED), sse([SERVED]));
    for (let at = 0; at < 6; at++) expect((await chain.call(streaming)).body.toString()).toBe(SERVED);
    expect(chain.asked).toEqual([6, 6]);
  });

  it('a fallback that cannot be reached → the failed stream is relayed, with the latency of each target', async () => {
    const slow = slowHeaders(300, sse([CREATED, ERROR]));
    await chained(slow, { provider: { baseUrl: await refusingUrl() } });
    const answer = await chain.call(streaming);
    expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, CREATED + ERROR]);
    const attempts = (await chain.attempts()) ?? [];
    expect(attempts).toMatchObject([{ status: 200 }, { status: null }]);
    expect(attempts.map(({ latency_ms }) => latency_ms >= 300)).toEqual([true, false]);
    expect(await chain.client.events()).toMatchObject([
      { status: 'provider_error', cost_usd: 0, provider_slug: chain.slugs[0] },
    ]);
  });
});

describe('a stream that no fallback replaces', () => {
  it.each<[string, Script, string]>([
    ['an error after content', sse([CREATED, DELTA, ERROR]), CREATED + DELTA + ERROR],
    ['an error in the same piece as content', sse([CREATED + DELTA + ERROR]), CREATED + DELTA + ERROR],
    ['an error after unreadable data', sse(['data: ?\n\n', ERROR]), `data: ?\n\n${ERROR}`],
    ['no content at all', sse([CREATED, IN_PROGRESS]), CREATED + IN_PROGRESS],
    ['nothing at all', sse([]), ''],
    ['half an error', sse([CREATED, ERROR.slice(0, -1)]), CREATED + ERROR.slice(0, -1)],
    ['an error in an answer that is not a stream', json(200, ERROR, { 'content-type': 'application/json' }), ERROR],
  ])('%s → relayed unchanged, no fallback is called', async (_name, script, text) => {
    await chained(script, sse([SERVED]));
    const answer = await chain.call(streaming);
    expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, text]);
    expect(chain.asked).toEqual([1, 0]);
    expect(await chain.attempts()).toBeNull();
  });

  it('content first, then a broken connection → the answer is cut off, no fallback is called', async () => {
    const sent = CREATED + DELTA;
    await chained(dieAfter(sent.length, sent), sse([SERVED]));
    const answer = await chain.call(streaming);
    expect([answer.isComplete, answer.body.toString()]).toEqual([false, sent]);
    expect(chain.asked).toEqual([1, 0]);
  });

  it('the last target’s error before any content → its own stream, unchanged', async () => {
    await chained(json(503, {}), sse([CREATED, ERROR]));
    expect((await chain.call(streaming)).body.toString()).toBe(CREATED + ERROR);
  });

  it('64 KiB without content → is sent, and whatever follows is final', async () => {
    const comments = `:${'x'.repeat(70_000)}\n\n`;
    await chained(sse([comments, ERROR]), sse([SERVED]));
    expect((await chain.call(streaming)).body.toString()).toBe(comments + ERROR);
  });
});

describe('what is held back, and for how long', () => {
  it('a stream that could be replaced → head and beginning are sent with the first content, not at the end', async () => {
    const held = hold(OPENING + DELTA);
    await chained(held.script, sse([SERVED]));
    const message = await chain.open(streaming).head;
    const [first] = await once(message, 'data');
    expect(first.toString()).toBe(OPENING + DELTA);
    held.release(COMPLETED);
    expect((await read(message)).isComplete).toBe(true);
  });

  it.each<[string, (script: Script) => (Script | ChainTarget)[]]>([
    ['of the last target', (script) => [json(503, {}), script]],
    ['of an endpoint without fallbacks', (script) => [script]],
  ])('a stream %s → its beginning is forwarded at once', async (_name, targets) => {
    const held = hold(CREATED);
    await chained(...targets(held.script));
    const message = await chain.open(streaming).head;
    expect((await once(message, 'data'))[0].toString()).toBe(CREATED);
    held.release();
    await read(message);
  });

  it('a client that disconnects while the stream is held back → no further target is called, one event', async () => {
    const held = hold(CREATED);
    await chained(held.script, sse([SERVED]));
    const { request } = chain.open(streaming);
    await chain.isAsked(0);
    await eventually(() => held.open() === 1, { withinMs: 10_000 });
    request.destroy();
    const { openRequests } = world.gateway.app.get(Metrics);
    await eventually(() => openRequests.of().value === 0, { withinMs: 10_000 });
    held.release(ERROR);
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[0], client_aborted: 1 }]);
    expect(chain.asked).toEqual([1, 0]);
  });

  it('a transcription stream → an error before the first text falls back, one after it does not', async () => {
    const text = named('transcript.text.delta', { delta: 'Hi' });
    const form = {
      headers: ['content-type', 'multipart/form-data; boundary=b'],
      body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n',
    };
    for (const [script, served] of [
      [sse([ERROR]), text],
      [sse([text, ERROR]), text + ERROR],
    ] as const) {
      const targets = [script, sse([text])].map((each) => ({ script: each, model: 'gpt-4o-mini-transcribe' }));
      chain = await EndpointChain.create(world, targets, { api_style: 'transcription' });
      expect((await chain.call(form)).body.toString()).toBe(served);
      await chain.stop();
    }
  });
});
