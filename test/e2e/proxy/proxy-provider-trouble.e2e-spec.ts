import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type Answer, ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import {
  badLength,
  dieAfter,
  earlyAnswer,
  emptyBody,
  garbage,
  informational,
  inTurn,
  json,
  resetBeforeAnswer,
  type Script,
  silence,
  sse,
} from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/responses';
const BODY = { model: 'gpt-4.1' };
const TTFB_SECONDS = 1;
const OK_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const UNHEARD = { status: 'provider_error', cost_usd: 0, input_tokens: 0, output_tokens: 0, cost_source: 'unresolved' };
/** `{"model":"gpt-4.1"}` at 2 dollars per million tokens. */
const SENT_USD = 0.00001;
const GONE = { status: 'provider_error', cost_usd: 0, input_tokens: 0, output_tokens: 0, cost_source: 'computed' };

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  // So few connections that one that is not returned makes a later test fail.
  const env = { PROVIDER_TTFB_TIMEOUT_SECONDS: String(TTFB_SECONDS), PROVIDER_MAX_CONNECTIONS: '4' };
  world = await startWorld({ env });
});

beforeEach(async () => {
  world.logs.length = 0;
  world.upstream.forget();
  client = await ProxyClient.create(world);
});

afterAll(() => world.stop());

function answerTo(script: Script): Promise<Answer> {
  world.upstream.script(script);
  return client.call(PATH, { body: BODY });
}

/** Records the connections on which the provider was called. */
function watched(sockets: Set<Socket>, script: Script): Script {
  return (exchange) => {
    sockets.add(exchange.socket);
    return script(exchange);
  };
}

describe('calls without an answer', () => {
  it.each<[string, Script]>([
    ['a reset before the answer', resetBeforeAnswer()],
    ['the end of the connection', garbage('')],
    ['bytes that are not HTTP', garbage('hello there\r\n\r\n')],
    ['a TLS alert', garbage(Buffer.from('15030300020246', 'hex'))],
    ['half a status line', garbage('HTTP/1.1 2')],
    ['half a head', garbage(OK_HEAD)],
    ['a header without a colon', garbage(`${OK_HEAD}nonsense\r\n\r\n`)],
    ['another protocol version', garbage('HTTP/2.7 200 OK\r\n\r\n')],
    ['a switch of protocols', garbage('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['two different lengths', garbage(`${OK_HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`)],
    [
      'length and chunks',
      garbage(`${OK_HEAD}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    ],
    ['a negative length', garbage(`${OK_HEAD}content-length: -2\r\n\r\n{}`)],
    ['70 KiB of headers', garbage(`${OK_HEAD}x: ${'y'.repeat(70 * 1024)}\r\ncontent-length: 2\r\n\r\n{}`)],
  ])('%s → 502 provider_error, one log line, one event', async (_name, script) => {
    expect(refusalOf(await answerTo(script))).toEqual([502, 'provider_error']);
    expect(client.lines('gateway_error')).toMatchObject([{ code: 'provider_error', status: 502, level: 'error' }]);
    expect(await client.events()).toMatchObject([{ ...UNHEARD, estimated_cost_usd: SENT_USD }]);
    expect(client.lines('usage_unresolved_cost')).toMatchObject([{ reason: 'provider_reset' }]);
  });

  it('a connection refused → 502 provider_error, and an event', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    server.close();
    await once(server, 'close');
    client = await ProxyClient.create(world, { provider: { baseUrl: `http://127.0.0.1:${port}/` } });
    expect(refusalOf(await client.call(PATH, { body: BODY }))).toEqual([502, 'provider_error']);
    expect(client.lines('gateway_error')).toHaveLength(1);
    expect(await client.events()).toMatchObject([{ ...GONE, estimated_cost_usd: 0 }]);
  });

  it('silence → 504 after PROVIDER_TTFB_TIMEOUT_SECONDS, the call cancelled, an event with that latency', async () => {
    const before = world.upstream.openConnections();
    const startedMs = performance.now();
    expect(refusalOf(await answerTo(silence()))).toEqual([504, 'provider_error']);
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(TTFB_SECONDS * 950);
    await eventually(() => world.upstream.openConnections() <= before, { withinMs: 10_000 });
    const [event] = await client.events();
    expect(event).toMatchObject({ ...UNHEARD, estimated_cost_usd: SENT_USD });
    expect(client.lines('usage_unresolved_cost')).toMatchObject([{ reason: 'provider_timeout' }]);
    expect(event.latency_ms).toBeGreaterThanOrEqual(TTFB_SECONDS * 950);
    expect(client.lines('gateway_error')).toMatchObject([{ status: 504, reason: 'provider_timeout' }]);
    expect(world.logs.filter(({ message }) => message === 'provider_ttfb_timeout')).toHaveLength(1);
  });

  it('interim answers and then silence → still 504', async () => {
    expect(refusalOf(await answerTo(informational([102, 103], silence())))).toEqual([504, 'provider_error']);
  });

  it.each([
    ['only bytes of a head', 'HTTP/1.1 200 OK\r\nx-drip: a'],
    ['a status below all others', 'HTTP/1.1 000 Nothing\r\n\r\n'],
  ])('%s, and the connection stays open → 504', async (_name, bytes) => {
    const script: Script = async ({ body, socket }) => {
      await body();
      socket.write(bytes);
    };
    expect(refusalOf(await answerTo(script))[1]).toBe('provider_error');
  });
});

describe('an answer that breaks off', () => {
  const text = `{"text":"${'x'.repeat(1000)}"}`;
  const gzip = (bytes: Buffer): Script => json(200, bytes, { 'content-encoding': 'gzip' });

  it.each<[string, Script, RegExp]>([
    ['dies in a chunked body', dieAfter(500, text), /^\{"text":"x{491}$/],
    ['dies after its head', dieAfter(0, text), /^$/],
    ['sends less than its length', badLength(2000, text), /^\{"text":"x{1000}"\}$/],
    ['sends a broken chunk', garbage(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n`), /^(\{\})?$/],
    ['ends without the last chunk', garbage(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`), /^(\{\})?$/],
    ['cuts a compressed body short', gzip(gzipSync(text).subarray(0, 20)), /^/],
    ['sends no compressed data', gzip(Buffer.from('plainly not gzip')), /^$/],
    ['appends rubbish to compressed data', gzip(Buffer.concat([gzipSync('{}'), Buffer.from('\x1f\x8brubbish')])), /^/],
  ])('a provider that %s → the answer does not look complete, or is 502; one event', async (_name, script, body) => {
    const answer = await answerTo(script);
    if (answer.status === 200) {
      expect(answer.isComplete).toBe(false);
      expect(answer.body.toString()).toMatch(body);
      expect(world.logs.filter(({ message }) => message === 'provider_stream_failed')).toHaveLength(1);
    } else expect(refusalOf(answer)).toEqual([502, 'provider_error']);
    expect(await client.events()).toMatchObject([{ status: 'provider_error' }]);
    expect((await answerTo(json(200, {}))).status).toBe(200);
  });

  it('endless garbage instead of compressed data → cut off, and the provider’s connection is closed', async () => {
    const before = world.upstream.openConnections();
    const answer = await answerTo(async ({ body, response }) => {
      await body();
      response.writeHead(200, { 'content-encoding': 'gzip' }).write('not gzip at all');
    });
    expect([answer.isComplete && answer.status === 200]).toEqual([false]);
    await eventually(() => world.upstream.openConnections() <= before, { withinMs: 10_000 });
  });
});

describe('unusual but complete answers', () => {
  it.each([400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529])(
    'the provider’s own %d → relayed unchanged, recorded as provider_error without cost',
    async (status) => {
      const text = '{ "error" : {"message":"no", "code":"provider_said_so"} }\n';
      const answer = await answerTo(json(status, text, { 'retry-after': '3', 'x-request-id': 'r' }));
      expect([answer.status, answer.body.toString(), answer.isComplete]).toEqual([status, text, true]);
      expect(answer.headers).toMatchObject({ 'retry-after': '3', 'x-request-id': 'r' });
      expect(client.lines('gateway_error')).toEqual([]);
      expect(await client.events()).toMatchObject([GONE]);
    },
  );

  it.each<[string, Script, number, string]>([
    ['interim answers first', informational([100, 102, 103], json(200, '{"a":1}')), 200, '{"a":1}'],
    ['no content', emptyBody(204), 204, ''],
    ['an empty body', emptyBody(200), 200, ''],
    ['an answer before the request was read', earlyAnswer(413, '{"e":1}'), 413, '{"e":1}'],
    [
      'a stream declared as JSON',
      sse(['data: 1\n\n'], { headers: { 'content-type': 'application/json' } }),
      200,
      'data: 1\n\n',
    ],
    ['no content type', garbage('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'), 200, '{}'],
    ['no length, ended by the connection', garbage(`${OK_HEAD}connection: close\r\n\r\n{}`), 200, '{}'],
    ['HTTP/1.0', garbage('HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nhi'), 200, 'hi'],
    [
      'trailers',
      garbage(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nset-cookie: a=b\r\n\r\n`),
      200,
      '{}',
    ],
    ['40 KiB of headers', json(200, '{}', { 'x-long': 'y'.repeat(40 * 1024) }), 200, '{}'],
    ['an unknown status', garbage('HTTP/1.1 299 Odd\r\ncontent-length: 2\r\n\r\n{}'), 299, '{}'],
  ])('%s → relayed completely', async (_name, script, status, text) => {
    const answer = await answerTo(script);
    expect([answer.status, answer.body.toString(), answer.isComplete]).toEqual([status, text, true]);
    expect(await client.events()).toHaveLength(1);
  });

  it('an early refusal of 20 MiB that the provider does not read → relayed', async () => {
    world.upstream.script(earlyAnswer(413, '{"e":1}'));
    const answer = await client.call(PATH, { body: { ...BODY, input: 'x'.repeat(20 * 1024 * 1024 - 100) } });
    expect([answer.status, answer.body.toString()]).toEqual([413, '{"e":1}']);
  });
});

describe('connections to the provider', () => {
  const reused = async (first: Script): Promise<boolean> => {
    const sockets = new Set<Socket>();
    await answerTo(watched(sockets, inTurn(first, json(200, '{"own":1}'))));
    const answer = await client.call(PATH, { body: BODY });
    expect([answer.status, answer.body.toString()]).toEqual([200, '{"own":1}']);
    return sockets.size === 1;
  };

  it('a complete answer → the next call uses the same connection', async () => {
    await answerTo(json(200, {}));
    expect(await reused(json(200, {}))).toBe(true);
    expect(await reused(json(500, {}))).toBe(true);
    expect(await reused(sse(['data: 1\n\n']))).toBe(true);
  });

  const raw =
    (bytes: string): Script =>
    async ({ body, socket }) => {
      await body();
      socket.write(bytes);
    };

  it.each<[string, Script]>([
    ['breaks off', dieAfter(10, '{"a":"b"}')],
    ['is too short', badLength(99, '{}')],
    ['is longer than its length', raw(`${OK_HEAD}content-length: 2\r\n\r\n{}{"evil":1}`)],
    [
      'is followed by an answer nobody asked for',
      raw(`${OK_HEAD}content-length: 2\r\n\r\n{}${OK_HEAD}content-length: 8\r\n\r\n{"evil"}`),
    ],
    ['has a body although it may not', raw(`HTTP/1.1 204 No Content\r\ncontent-length: 8\r\n\r\n{"evil"}`)],
    ['is garbage', garbage('hello')],
    ['never comes', silence()],
  ])('an answer that %s → the next call gets its own answer over another connection', async (_name, script) => {
    expect(await reused(script)).toBe(false);
  });

  it('the provider closes an idle connection → the next call is served on a new one', async () => {
    expect(
      await reused(async ({ body, response, socket }) => {
        await body();
        response.end('{}', () => socket.end());
      }),
    ).toBe(false);
  });
});
