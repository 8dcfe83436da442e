import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import {
  type ReceivedSpan,
  type ScriptedCollector,
  startCollector,
} from '../../support/health/metrics/otlp-collector.js';
import { EndpointChain, RESPONSE, refusingUrl } from '../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { plainCompletion } from '../../support/proxy/upstream.js';
import { dieAfter, event, hold, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const SERVER = 2;
const CLIENT = 3;
const FAILED = { code: 2 };
const CHAT = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'a prompt nobody else may see' }] };
const PATH = 'v1/chat/completions';
const CHUNK = { choices: [{ index: 0, delta: { content: 'a secret answer' } }] };
const STREAM = [
  event(CHUNK),
  event({ choices: [], usage: { prompt_tokens: 8, completion_tokens: 3 } }),
  'data: [DONE]\n\n',
];

let collector: ScriptedCollector;
let world: World;
let client: ProxyClient;
let traces = 0;

beforeAll(async () => {
  collector = await startCollector();
  world = await startWorld({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PROVIDER_TTFB_TIMEOUT_SECONDS: '2', ABORT_DRAIN_SECONDS: '1' },
  });
  client = await ProxyClient.create(world);
});

beforeEach(() => {
  world.upstream.script(json(200, plainCompletion));
  world.logs.length = 0;
});

afterEach(() => {
  collector.answer = { status: 200 };
});

afterAll(async () => {
  await world.stop();
  await collector.close();
});

/** A trace of a client. */
function ownTrace(flags = '01') {
  const traceId = (++traces).toString(16).padStart(32, 'a');
  const spanId = 'b7ad6b7169203331';
  return { traceId, spanId, headers: ['traceparent', `00-${traceId}-${spanId}-${flags}`] };
}

async function spansOf(traceId: string, count: number): Promise<{ server: ReceivedSpan; calls: ReceivedSpan[] }> {
  const spans = await collector.spansOf(traceId, count);
  const server = spans.find(({ kind }) => kind === SERVER);
  if (server === undefined || spans.length !== count) throw new Error(JSON.stringify(spans));
  return { server, calls: spans.filter(({ kind }) => kind === CLIENT) };
}

function durationMs({ startTimeUnixNano, endTimeUnixNano }: ReceivedSpan): number {
  return Number((BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1000n) / 1000;
}

describe('traces (OTEL_EXPORTER_OTLP_ENDPOINT)', () => {
  it('call in a trace of the client → one span for the request under the client’s, one for the provider under that', async () => {
    const { traceId, spanId, headers } = ownTrace();
    const startedMs = Date.now();
    expect((await client.call(PATH, { body: CHAT, headers })).status).toBe(200);
    const { server, calls } = await spansOf(traceId, 2);
    const tookMs = Date.now() - startedMs;
    const [{ id }] = await world.dataSource.query('SELECT event_id AS id FROM usage_events WHERE app_id = $1', [
      client.appId,
    ]);
    expect(server).toMatchObject({
      parentSpanId: spanId,
      name: 'POST /v1/apps/{app}/proxy/{provider}/{path}',
      status: {},
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/apps/{app}/proxy/{provider}/{path}',
        'http.response.status_code': '200',
        'gateway.app.id': client.appId,
        'gateway.event.id': id,
      },
    });
    expect(calls).toMatchObject([{ parentSpanId: server.spanId, name: 'chat gpt-4.1', status: {} }]);
    expect(calls[0]?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1',
      'gen_ai.usage.input_tokens': '10',
      'gen_ai.usage.output_tokens': '2',
      'server.address': '127.0.0.1',
      'server.port': new URL(world.upstream.url).port,
      'http.response.status_code': '200',
      'gateway.app.id': client.appId,
      'gateway.provider.slug': client.slug,
    });
    for (const span of [server, ...calls]) {
      expect(Number(BigInt(span.startTimeUnixNano) / 1_000_000n)).toBeGreaterThanOrEqual(startedMs - 1);
      expect(durationMs(span)).toBeGreaterThan(0);
      expect(durationMs(span)).toBeLessThanOrEqual(tookMs + 1);
    }
    expect(collector.resource).toMatchObject({ 'service.name': 'gateway', 'service.instance.id': expect.any(String) });
  });

  it('no trace, or one that cannot be read → a trace of our own; the provider gets the client’s header', async () => {
    const before = collector.spans.length;
    await client.call(PATH, { body: CHAT, headers: ['traceparent', 'nonsense'] });
    await eventually(() => collector.spans.length === before + 2, { withinMs: 10_000 });
    const own = collector.spans.slice(before);
    expect(new Set(own.map(({ traceId }) => traceId)).size).toBe(1);
    expect(own.find(({ kind }) => kind === SERVER)).not.toHaveProperty('parentSpanId');
  });

  it('a trace that the client does not sample → no spans', async () => {
    const { headers } = ownTrace('00');
    const recorded = ownTrace();
    const before = collector.spans.length;
    await client.call(PATH, { body: CHAT, headers });
    await client.call(PATH, { body: CHAT, headers: recorded.headers });
    await spansOf(recorded.traceId, 2);
    expect(collector.spans.length).toBe(before + 2);
  });

  it('stream → its usage, and the time to its end', async () => {
    world.upstream.script(sse(STREAM, { delayMs: 60 }));
    const { traceId, headers } = ownTrace();
    await client.call(PATH, { body: { ...CHAT, stream: true }, headers });
    const { server, calls } = await spansOf(traceId, 2);
    expect(calls).toMatchObject([
      { attributes: { 'gen_ai.usage.input_tokens': '8', 'gen_ai.usage.output_tokens': '3' }, status: {} },
    ]);
    for (const span of [server, ...calls]) expect(durationMs(span)).toBeGreaterThan(100);
  });

  it.each<[string, Script, object, object]>([
    ['429', json(429, {}), { 'http.response.status_code': '429', 'error.type': '429' }, {}],
    ['500', json(500, {}), { 'http.response.status_code': '500', 'error.type': '500' }, FAILED],
    [
      'an answer that breaks off',
      dieAfter(Buffer.byteLength(event(CHUNK)), event(CHUNK)),
      { 'http.response.status_code': '200', 'error.type': expect.stringMatching(/^provider_/) },
      FAILED,
    ],
  ])('provider error: %s → a failed call', async (_name, script, attributes, status) => {
    world.upstream.script(script);
    const { traceId, headers } = ownTrace();
    await client.call(PATH, { body: CHAT, headers });
    const { server, calls } = await spansOf(traceId, 2);
    expect(calls).toMatchObject([{ status: FAILED, attributes }]);
    expect(server.status).toEqual(status);
  });

  it('unreachable provider → a failed call without a status, and our 502', async () => {
    const other = await ProxyClient.create(world, { provider: { baseUrl: await refusingUrl() } });
    const { traceId, headers } = ownTrace();
    await other.call(PATH, { body: CHAT, headers });
    const { server, calls } = await spansOf(traceId, 2);
    expect(server).toMatchObject({ status: FAILED, attributes: { 'http.response.status_code': '502' } });
    expect(calls).toMatchObject([{ status: FAILED, attributes: { 'error.type': 'provider_econnrefused' } }]);
    expect(calls[0]?.attributes).not.toHaveProperty(['http.response.status_code']);
  });

  it('client disconnects → the call span until it is abandoned, the request as aborted', async () => {
    const held = hold(event(CHUNK));
    world.upstream.script(held.script);
    const { traceId, headers } = ownTrace();
    const open = client.open(PATH, { body: { ...CHAT, stream: true }, headers });
    await open.head;
    open.request.destroy();
    await eventually(() => held.open() === 1, { withinMs: 10_000 });
    const { server, calls } = await spansOf(traceId, 2);
    expect(server.attributes).toMatchObject({ 'gateway.client_aborted': true, 'http.response.status_code': '200' });
    expect(calls).toMatchObject([{ status: {} }]);
  });

  it('named endpoint whose first targets fail → one span for each call, under one request span', async () => {
    const chain = await EndpointChain.create(world, [
      { script: json(503, {}) },
      { provider: { baseUrl: await refusingUrl() } },
      { script: json(200, RESPONSE), model: 'gpt-4.1-mini' },
    ]);
    const { traceId, headers } = ownTrace();
    expect((await chain.call({ headers })).status).toBe(200);
    const { server, calls } = await spansOf(traceId, 4);
    expect(server).toMatchObject({
      name: 'POST /v1/apps/{app}/endpoints/{slug}',
      status: {},
      attributes: { 'gateway.endpoint.slug': 'answer', 'http.response.status_code': '200' },
    });
    expect(calls).toMatchObject([
      { attributes: { 'gateway.provider.slug': chain.slugs[0], 'error.type': '503' }, status: FAILED },
      {
        attributes: { 'gateway.provider.slug': chain.slugs[1], 'error.type': 'provider_econnrefused' },
        status: FAILED,
      },
      { name: 'chat gpt-4.1-mini', attributes: { 'gen_ai.usage.input_tokens': '1000' }, status: {} },
    ]);
    expect(new Set(calls.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([server.spanId]));
    await chain.stop();
  });

  it('all exported data → no prompt, no answer, no key', () => {
    const sent = collector.bodies.join('\n');
    expect(collector.spans.length).toBeGreaterThan(10);
    for (const secret of ['a prompt', 'a secret answer', client.key, 'sk-', world.managementKey]) {
      expect(sent).not.toContain(secret);
    }
  });

  it('collector that refuses, or is busy for a while → calls continue, one log line, retryable spans are kept', async () => {
    collector.answer = { status: 503 };
    const busy = ownTrace();
    expect((await client.call(PATH, { body: CHAT, headers: busy.headers })).status).toBe(200);
    const lines = () => world.logs.filter(({ message }) => message === 'traces_export_failed');
    await eventually(() => lines().length > 0, { withinMs: 10_000 });
    expect(lines()).toMatchObject([{ level: 'warn', lost: 0, error: 'status 503' }]);
    collector.answer = { status: 200 };
    await spansOf(busy.traceId, 2);
    collector.answer = { status: 400 };
    await client.call(PATH, { body: CHAT, headers: ownTrace().headers });
    await lostSpans(2);
    expect(lines().length).toBe(1);
  });

  it('stop → waiting spans are sent before the process exits; without a collector nothing is sent', async () => {
    const own = await startCollector();
    const other = await startWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: own.url } });
    const otherClient = await ProxyClient.create(other);
    const { traceId, headers } = ownTrace();
    await otherClient.call(PATH, { body: CHAT, headers });
    await other.stop();
    expect(own.spans.filter((span) => span.traceId === traceId).length).toBe(2);
    await own.close();
  });

  it('collector that is down → calls are answered, and the process stops in time', async () => {
    const other = await startWorld({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: await refusingUrl() } });
    const otherClient = await ProxyClient.create(other);
    for (let call = 0; call < 5; call++) expect((await otherClient.call(PATH, { body: CHAT })).status).toBe(200);
    await other.stop();
    const lines = other.logs.filter(({ message }) => message === 'traces_export_failed');
    expect(lines.at(-1)).toMatchObject({ lost: 10 });
  });
});

/** Waits until that many spans are reported as lost. */
async function lostSpans(count: number): Promise<void> {
  const told = async () => (await fetch(`${world.baseUrl}/metrics`)).text();
  await eventually(async () => (await told()).includes(`outcome="lost"} ${count}`), { withinMs: 10_000 });
}
