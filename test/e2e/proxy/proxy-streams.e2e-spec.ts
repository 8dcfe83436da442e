import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { eventually } from '../../support/eventually.js';
import { ProxyClient, read, refusalOf } from '../../support/proxy/proxy-client.js';
import { event, hold, json, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/chat/completions';
const BODY = { model: 'gpt-4.1', stream: true };
const MIB = 1024 * 1024;
const MAX_CONNECTIONS = 4;
const UNPACK = "process.stdin.pipe(require('node:zlib').createGunzip()).resume()";

const word = (content: string) =>
  event({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] });
const USAGE = event({
  object: 'chat.completion.chunk',
  choices: [],
  usage: { prompt_tokens: 1000, completion_tokens: 500 },
});
const DONE = event('[DONE]');
/** 1000 × 2 and 500 × 8 dollars per million. */
const COST_USD = 0.006;

let world: World;
let client: ProxyClient;

beforeAll(async () => {
  // So few connections that one that is not returned makes a later test fail.
  const env = { ABORT_DRAIN_SECONDS: '1', PROVIDER_MAX_CONNECTIONS: String(MAX_CONNECTIONS) };
  world = await startWorld({ env });
});

beforeEach(async () => {
  world.logs.length = 0;
  world.upstream.forget();
  client = await ProxyClient.create(world);
});

afterAll(() => world.stop());

describe('bytes are forwarded as they arrive', () => {
  it('the head → reaches the client before any byte of the body arrives', async () => {
    const held = hold('');
    world.upstream.script(held.script);
    const message = await client.open(PATH, { body: BODY }).head;
    expect([message.statusCode, message.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(message.headers['server-timing']).toMatch(/provider_ttfb;dur=\d+\.\d$/);
    held.release();
    expect((await read(message)).isComplete).toBe(true);
  });

  it('a provider that sends a chunk only after the client has the previous one → no chunk waits for another', async () => {
    let turn = Promise.withResolvers<void>();
    const pieces = ['a', word('Hel'), 'data: cut', ' in two\n\n', '\n', word('lo'), DONE];
    world.upstream.script(async ({ body, response }) => {
      await body();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of pieces) {
        response.write(piece);
        await turn.promise;
        turn = Promise.withResolvers();
      }
      response.end();
    });
    const message = await client.open('v1/responses', { body: { model: 'gpt-4.1', stream: true } }).head;
    const got: string[] = [];
    message.on('data', (piece: Buffer) => {
      got.push(piece.toString());
      turn.resolve();
    });
    await once(message, 'close');
    expect(got).toEqual(pieces);
  });

  it('many random bytes in irregular chunks → every byte, in order', async () => {
    const pieces = Array.from({ length: 200 }, (_, at) => randomBytes(1 + ((at * 7919) % 70_000)));
    world.upstream.script(sse(pieces));
    const answer = await client.call('v1/responses', { body: { model: 'gpt-4.1' } });
    expect(answer.isComplete).toBe(true);
    expect(answer.body.equals(Buffer.concat(pieces))).toBe(true);
  });

  it.each([
    ['did not ask for usage', {}, [word('Hi'), DONE]],
    ['asked for none', { stream_options: { include_usage: false } }, [word('Hi'), DONE]],
    ['asked for usage', { stream_options: { include_usage: true } }, [word('Hi'), USAGE, DONE]],
  ])('a client that %s → receives exactly that, and the event has the tokens', async (_name, options, seen) => {
    world.upstream.script(sse([word('Hi'), USAGE, DONE]));
    const answer = await client.call(PATH, { body: { ...BODY, ...options } });
    expect(answer.body.toString()).toBe(seen.join(''));
    expect(JSON.parse(world.upstream.requests[0]?.body.toString() ?? '').stream_options).toEqual({
      include_usage: true,
    });
    expect(await client.events()).toMatchObject([{ input_tokens: 1000, output_tokens: 500, cost_usd: COST_USD }]);
  });
});

/** Counts what the provider could hand over to the network. */
interface Flood {
  readonly script: Script;
  taken(): number;
  /** Resolves when the network has stopped taking more. */
  stalled(): Promise<void>;
}

/** Nearly all random pieces of this size look like they hold a secret: the service would then search byte by byte. */
const FLOOD_PIECE = Buffer.alloc(64 * 1024, ': a comment of a stream\n');

/** A provider that sends `pieces` numbered pieces as fast as it is let, compressed (to no avail) or not. */
function flood(pieces: number, hash: ReturnType<typeof createHash>, compressed: boolean): Flood {
  let taken = 0;
  const send = async (to: NodeJS.WritableStream) => {
    for (let at = 0; at < pieces; at++) {
      const piece = Buffer.from(FLOOD_PIECE);
      piece.writeUInt32BE(at);
      hash.update(piece);
      if (!to.write(piece)) await once(to, 'drain');
      taken += piece.length;
    }
    to.end();
  };
  const pipeline = (response: ServerResponse) => {
    const gzip = createGzip({ level: 0 });
    gzip.pipe(response);
    return gzip;
  };
  return {
    script: async ({ body, response }) => {
      await body();
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        ...(compressed && { 'content-encoding': 'gzip' }),
      });
      await send(compressed ? pipeline(response) : response);
    },
    taken: () => taken,
    stalled: async () => {
      let last = -1;
      let sinceMs = performance.now();
      await eventually(
        () => {
          if (taken !== last) sinceMs = performance.now();
          last = taken;
          return taken > 0 && performance.now() - sinceMs > 250;
        },
        { withinMs: 10_000 },
      );
    },
  };
}

describe('a client that does not read', () => {
  it.each([
    ['plain', false],
    ['compressed', true],
  ])(
    '%s answer → slows only its own provider, uses no memory, and receives every byte once it reads again',
    async (_name, gz) => {
      const sent = createHash('sha256');
      const total = 64 * MIB;
      const { script, taken, stalled } = flood(total / 65_536, sent, gz);
      world.upstream.script(script);
      const message = await client.open('v1/responses', { body: { model: 'gpt-4.1' } }).head;
      await stalled();
      // Only what the kernel buffers on four sockets.
      expect(taken()).toBeLessThan(total / 2);
      const got = createHash('sha256');
      for await (const piece of message) got.update(piece as Buffer);
      expect(got.digest('hex')).toBe(sent.digest('hex'));
    },
  );

  it('a small compressed answer that grows a thousandfold → memory stays bounded too', async () => {
    const bomb = createGzip();
    const packed: Buffer[] = [];
    bomb.on('data', (piece: Buffer) => packed.push(piece));
    for (let at = 0; at < 128; at++) if (!bomb.write(Buffer.alloc(MIB))) await once(bomb, 'drain');
    bomb.end();
    await once(bomb, 'end');
    world.upstream.script(json(200, Buffer.concat(packed), { 'content-encoding': 'gzip' }));
    const before = process.memoryUsage().arrayBuffers;
    const { request, head } = client.open('v1/responses', { body: { model: 'gpt-4.1' } });
    await head;
    // Another program that began later has unpacked all of it: so would the service without a limit.
    const other = spawn(process.execPath, ['-e', UNPACK], { stdio: ['pipe', 'ignore', 'inherit'] });
    other.stdin.end(Buffer.concat(packed));
    expect(await once(other, 'exit')).toEqual([0, null]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(48 * MIB);
    request.destroy();
    expect(await client.events()).toMatchObject([{ client_aborted: 1 }]);
  });

  it('it disconnects without reading → the provider’s answer is read to its end, and its connection is free again', async () => {
    const { script, stalled } = flood(512, createHash('sha256'), false);
    world.upstream.script(script);
    const { request, head } = client.open('v1/responses', { body: { model: 'gpt-4.1' } });
    await head;
    await stalled();
    request.destroy();
    expect(await client.events()).toMatchObject([{ status: 'ok', client_aborted: 1 }]);
  });
});

/** Open client connections, as known to the service. */
function openConnections(): Promise<number> {
  const server: Server = world.gateway.app.getHttpServer();
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

describe('a client that disconnects', () => {
  const FULL = { status: 'ok', client_aborted: 1, input_tokens: 1000, output_tokens: 500, cost_usd: COST_USD };

  it('before the first byte → the answer is still read, and billed', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const script = sse([word('Hi'), USAGE, DONE]);
    world.upstream.script(async (exchange) => {
      await exchange.body();
      await left;
      await script(exchange);
    });
    const { request } = client.open(PATH, { body: BODY });
    await eventually(() => world.upstream.requests[0]?.isComplete === true, { withinMs: 10_000 });
    request.destroy();
    const { openRequests } = world.gateway.app.get(Metrics);
    await eventually(() => openRequests.of().value === 0, { withinMs: 10_000 });
    resolve();
    expect(await client.events()).toMatchObject([{ ...FULL, cost_source: 'computed' }]);
  });

  it('mid-stream → the rest is read to the final usage, and billed', async () => {
    const held = hold(word('Hi'));
    world.upstream.script(held.script);
    const connections = await openConnections();
    const { request, head } = client.open(PATH, { body: BODY });
    await once(await head, 'data');
    request.destroy();
    await eventually(async () => (await openConnections()) <= connections, { withinMs: 10_000 });
    held.release(word('there') + USAGE + DONE);
    expect(await client.events()).toMatchObject([{ ...FULL, cost_source: 'computed' }]);
    expect(client.lines('usage_unresolved_cost')).toEqual([]);
  });

  it('and the provider continues for longer than ABORT_DRAIN_SECONDS → cancelled, unresolved, one log line', async () => {
    const held = hold(word('Hi'));
    world.upstream.script(held.script);
    const { request, head } = client.open(PATH, { body: BODY });
    await once(await head, 'data');
    const leftAtMs = performance.now();
    request.destroy();
    await eventually(() => held.open() === 0, { withinMs: 20_000 });
    expect(performance.now() - leftAtMs).toBeGreaterThan(900);
    expect(await client.events()).toMatchObject([
      { status: 'ok', client_aborted: 1, cost_source: 'unresolved', cost_usd: 0 },
    ]);
    const { timestamp, eventId, ...line } = client.lines('usage_unresolved_cost')[0] ?? {};
    expect(line).toEqual({
      level: 'error',
      message: 'usage_unresolved_cost',
      appId: client.appId,
      userId: null,
      provider: 'openai',
      providerSlug: client.slug,
      model: 'gpt-4.1',
      route: `${client.slug}/${PATH}`,
      contentType: 'text/event-stream',
      reason: 'client_aborted',
    });
    expect([eventId, timestamp]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.any(String)]);
  });

  it('a hundred that disconnect at once → every call has exactly one event, and calls are served again', async () => {
    const held = hold(word('Hi'));
    world.upstream.script(held.script);
    const calls = Array.from({ length: 100 }, () => client.open(PATH, { body: BODY }));
    await eventually(() => held.open() === MAX_CONNECTIONS, { withinMs: 10_000 });
    for (const { request } of calls) request.destroy();
    await eventually(() => held.open() === 0, { withinMs: 10_000 });
    const events = await client.events(MAX_CONNECTIONS);
    expect(events.every(({ client_aborted, status }) => client_aborted === 1 && status === 'ok')).toBe(true);
    world.upstream.script(sse([word('Hi'), USAGE, DONE]));
    expect((await client.call(PATH, { body: BODY })).status).toBe(200);
  });
});

describe('more calls than connections to one provider', () => {
  it('one above PROVIDER_MAX_CONNECTIONS → 503 with Retry-After at once, and served when a stream has ended', async () => {
    const held = hold(word('Hi'));
    world.upstream.script(held.script);
    const calls = Array.from({ length: MAX_CONNECTIONS }, () => client.open(PATH, { body: BODY }));
    const messages = await Promise.all(calls.map(({ head }) => head));
    const answer = await client.call(PATH, { body: BODY });
    expect(refusalOf(answer)).toEqual([503, 'service_unavailable']);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d?$/);
    held.release(USAGE + DONE);
    await Promise.all(messages.map(read));
    world.upstream.script(sse([word('Hi'), USAGE, DONE]));
    expect((await client.call(PATH, { body: BODY })).status).toBe(200);
    expect(await client.events(MAX_CONNECTIONS + 1)).toHaveLength(MAX_CONNECTIONS + 1);
  });
});
