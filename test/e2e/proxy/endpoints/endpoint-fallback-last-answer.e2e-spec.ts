import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { eventually } from '../../../support/eventually.js';
import {
  type ChainTarget,
  EndpointChain,
  RESPONSE,
  refusingUrl,
  targetOf,
} from '../../../support/proxy/endpoint-chain.js';
import { type Answer, read, refusalOf } from '../../../support/proxy/proxy-client.js';
import {
  dieAfter,
  emptyBody,
  event,
  hold,
  json,
  resetBeforeAnswer,
  type Script,
  silence,
  sse,
  unaskedGzip,
} from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const TTFB_SECONDS = 2;
const HOLD_MS = 300;
const KIB = 1024;
const BUSY = '{ "error" : {"message":"no", "code":"provider_said_so"} }\n';
const HEADERS = { 'retry-after': '7', 'x-request-id': 'of-the-busy-one', 'set-cookie': 'a=b' };
const STREAM = { body: { input: 'Hi', stream: true } };
const CREATED = event({ type: 'response.created', response: { id: 'resp_1' } });
const DELTA = event({ type: 'response.output_text.delta', delta: 'Hi' });
const ERROR = event({ type: 'error', code: 'server_error' });
const DONE = event({ type: 'response.completed', response: RESPONSE });

let world: World;
let refused: string;
let chain: EndpointChain;

beforeAll(async () => {
  // So few connections that one that is not returned makes a later call fail.
  const env = { PROVIDER_TTFB_TIMEOUT_SECONDS: String(TTFB_SECONDS), PROVIDER_MAX_CONNECTIONS: '2' };
  world = await startWorld({ env: { ...env, FALLBACK_HOLD_MS: String(HOLD_MS) } });
  refused = await refusingUrl();
});

beforeEach(() => {
  world.logs.length = 0;
});

afterEach(() => chain.stop());

afterAll(() => world.stop());

async function chained(...targets: (Script | ChainTarget)[]): Promise<EndpointChain> {
  chain = await EndpointChain.create(world, targets.map(targetOf));
  return chain;
}

const busy = (status = 503, body: string | Buffer = BUSY): Script => json(status, body, HEADERS);
const nobody = (): ChainTarget => ({ provider: { baseUrl: refused } });

/** The answer of one target reached the client unchanged, and the event is that target's. */
async function expectRelayed(answer: Answer, target: number, status: number, body = BUSY): Promise<void> {
  expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([status, true, body]);
  const { 'retry-after': retryAfter, 'x-request-id': id, 'set-cookie': cookie } = answer.headers;
  expect([retryAfter, id, cookie]).toEqual(['7', 'of-the-busy-one', undefined]);
  expect(chain.client.lines('gateway_error')).toEqual([]);
  expect(await chain.client.events()).toMatchObject([
    {
      provider_slug: chain.slugs[target],
      route: `${chain.slugs[target]}/v1/responses`,
      status: 'provider_error',
      cost_usd: 0,
      client_aborted: null,
    },
  ]);
}

/** No connections to providers and no requests remain open. */
async function nothingHeld(): Promise<void> {
  const { openProviderCalls, openRequests } = world.gateway.app.get(Metrics);
  await eventually(() => openProviderCalls.read() === 0 && openRequests.of().value === 0, { withinMs: 10_000 });
}

describe('every target fails, and one of them answered (ADR 0015)', () => {
  it.each<[string, number, (() => Script | ChainTarget)[], number, (number | null)[]]>([
    ['503, then a refused connection', 503, [() => busy(), nobody], 0, [503, null]],
    ['429, then a reset', 429, [() => busy(429), resetBeforeAnswer], 0, [429, null]],
    ['429, then silence', 429, [() => busy(429), silence], 0, [429, null]],
    ['a refused connection, then 500, then another', 500, [nobody, () => busy(500), nobody], 1, [null, 500, null]],
    ['502, then 529, then silence', 529, [() => json(502, '{}'), () => busy(529), silence], 1, [502, 529, null]],
    ['silence, then 503', 503, [silence, () => busy()], 1, [null, 503]],
  ])('%s → the last answer: %d, with its body and headers', async (_name, status, targets, told, statuses) => {
    await chained(...targets.map((target) => target()));
    await expectRelayed(await chain.call(), told, status);
    const attempts = (await chain.attempts()) ?? [];
    expect(attempts.map((attempt) => attempt.status)).toEqual(statuses);
    expect(attempts.map(({ provider_slug }) => provider_slug)).toEqual(chain.slugs);
    await nothingHeld();
  });

  it.each<[string, Script, string]>([
    ['without a body', json(503, '', HEADERS), ''],
    [
      'compressed',
      async (exchange) => {
        exchange.response.setHeader('retry-after', '7').setHeader('x-request-id', 'of-the-busy-one');
        await unaskedGzip(BUSY, 503)(exchange);
      },
      BUSY,
    ],
    [
      'in pieces',
      async ({ body, response }) => {
        await body();
        response.writeHead(503, HEADERS);
        for (const piece of BUSY) response.write(piece);
        response.end();
      },
      BUSY,
    ],
    ['of 64 KiB', busy(503, 'x'.repeat(64 * KIB)), 'x'.repeat(64 * KIB)],
  ])('an answer %s → relayed completely', async (_name, script, text) => {
    await chained(script, nobody());
    await expectRelayed(await chain.call(), 0, 503, text);
    await nothingHeld();
  });

  it('its body is still arriving when the others have failed → awaited', async () => {
    const { openProviderCalls } = world.gateway.app.get(Metrics);
    const failed = Promise.withResolvers<void>();
    await chained(
      async ({ body, response }) => {
        await body();
        response.writeHead(503, HEADERS).write(BUSY.slice(0, 5));
        await failed.promise;
        response.end(BUSY.slice(5));
      },
      async ({ body, socket }) => {
        await body();
        socket.resetAndDestroy();
        await eventually(() => (openProviderCalls.read() ?? 0) <= 1, { withinMs: 10_000 });
        failed.resolve();
      },
    );
    await expectRelayed(await chain.call(), 0, 503);
  });

  it.each<[string, Script]>([
    ['is too long', busy(503, 'x'.repeat(8 * KIB * KIB))],
    [
      'never ends',
      async ({ body, response }) => {
        await body();
        response.writeHead(503, HEADERS).write(BUSY);
      },
    ],
    [
      'grows beyond measure when it is unpacked',
      json(503, gzipSync(Buffer.alloc(32 * KIB * KIB)), {
        ...HEADERS,
        'content-encoding': 'gzip',
      }),
    ],
    ['breaks off', dieAfter(10, BUSY, { status: 503, headers: HEADERS as never })],
  ])('an answer whose body %s → its status and Retry-After, with the gateway’s body', async (_name, script) => {
    await chained(script, nobody());
    const answer = await chain.call();
    expect([answer.status, answer.isComplete, answer.headers['retry-after']]).toEqual([503, true, '7']);
    expect(JSON.parse(answer.body.toString()).error).toMatchObject({ code: 'provider_error' });
    expect(chain.client.lines('gateway_error')).toMatchObject([{ status: 503, reason: 'provider_answer_not_kept' }]);
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[0], status: 'provider_error' }]);
    await nothingHeld();
  });

  it('a stream with an error event → that stream, which ends after the error event', async () => {
    await chained(sse([CREATED + ERROR]), nobody());
    const answer = await chain.call(STREAM);
    expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, CREATED + ERROR]);
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[0], status: 'provider_error' }]);
    await nothingHeld();
  });

  it('a stream that broke off without content → not an answer: that of the previous target is relayed', async () => {
    await chained(busy(), dieAfter(CREATED.length, CREATED), nobody());
    await expectRelayed(await chain.call(STREAM), 0, 503);
    expect((await chain.attempts())?.map(({ status }) => status)).toEqual([503, 200, null]);
  });

  it('the provider’s key in it → masked', async () => {
    await chained(busy(503, 'your key is sk-of-target-0'), nobody());
    expect((await chain.call()).body.toString()).toBe(`your key is ${'*'.repeat('sk-of-target-0'.length)}`);
  });

  it('the client disconnects while the last target is awaited → one event, aborted by the client', async () => {
    await chained(busy(), silence());
    const { request } = chain.open();
    await chain.isAsked(1);
    request.destroy();
    expect(await chain.client.events()).toMatchObject([{ client_aborted: 1 }]);
    await nothingHeld();
  });

  it('the client disconnects while the body is awaited → one event, aborted by the client', async () => {
    await chained(async ({ body, response }) => {
      await body();
      response.writeHead(503, HEADERS).write('x');
    }, nobody());
    const { request } = chain.open();
    const { openProviderCalls } = world.gateway.app.get(Metrics);
    const isPassedOver = () => world.logs.some(({ message }) => message === 'endpoint_fallback');
    await eventually(() => isPassedOver() && openProviderCalls.read() === 1, { withinMs: 10_000 });
    request.destroy();
    expect(await chain.client.events()).toMatchObject([{ client_aborted: 1, status: 'provider_error' }]);
    await nothingHeld();
  });

  it('the last target serves → only its answer, none of the kept one', async () => {
    await chained(busy(), json(200, RESPONSE));
    const answer = await chain.call();
    expect([answer.status, answer.body.toString(), answer.headers['x-request-id']]).toEqual([
      200,
      JSON.stringify(RESPONSE),
      undefined,
    ]);
  });

  it('all fail twenty times → no connection is lost', async () => {
    await chained(busy(), nobody());
    for (let at = 0; at < 20; at++) expect((await chain.call()).status).toBe(503);
    await nothingHeld();
    expect(chain.asked[0]).toBe(20);
  });
});

describe('no target answers', () => {
  it.each<[string, (() => Script | ChainTarget)[], number]>([
    ['none can be reached', [nobody, nobody], 502],
    ['all stay silent', [silence, silence], 504],
    ['the last one stays silent', [nobody, silence], 504],
    ['the last one cannot be reached', [silence, nobody], 502],
  ])('%s → %d provider_error of the gateway', async (_name, targets, status) => {
    await chained(...targets.map((target) => target()));
    expect(refusalOf(await chain.call())).toEqual([status, 'provider_error']);
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[1], status: 'provider_error' }]);
  });

  it('an answer without a body → counts as an answer', async () => {
    await chained(emptyBody(500, HEADERS), nobody());
    await expectRelayed(await chain.call(), 0, 500, '');
  });
});

describe('FALLBACK_HOLD_MS (ADR 0015)', () => {
  it('a stream without content for that long → sent, and no fallback replaces it afterwards', async () => {
    const held = hold(CREATED);
    await chained(held.script, sse([CREATED, DELTA, DONE]));
    const startedMs = performance.now();
    const message = await chain.open(STREAM).head;
    expect((await once(message, 'data'))[0].toString()).toBe(CREATED);
    expect(performance.now() - startedMs).toBeGreaterThan(HOLD_MS * 0.9);
    // Its provider has sent nothing more so far.
    held.release(ERROR);
    const answer = await read(message);
    expect([answer.isComplete, answer.body.toString()]).toEqual([true, ERROR]);
    expect(chain.asked).toEqual([1, 0]);
  });

  it('it breaks off after that → cut off, and no fallback is called', async () => {
    const hasGoneOut = Promise.withResolvers<void>();
    await chained(
      async ({ body, response, socket }) => {
        await body();
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(CREATED);
        await hasGoneOut.promise;
        socket.destroy();
      },
      sse([DONE]),
    );
    const message = await chain.open(STREAM).head;
    await once(message, 'data');
    hasGoneOut.resolve();
    expect((await read(message)).isComplete).toBe(false);
    expect(chain.asked).toEqual([1, 0]);
  });

  it('an error within that time → replaced', async () => {
    await chained(sse([CREATED, ERROR], { delayMs: HOLD_MS / 30 }), sse([DELTA, DONE]));
    expect((await chain.call(STREAM)).body.toString()).toBe(DELTA + DONE);
  });
});

describe('FALLBACK_HOLD_MS=0', () => {
  let unheld: World;

  beforeAll(async () => {
    unheld = await startWorld({ env: { FALLBACK_HOLD_MS: '0' } });
  });

  afterAll(() => unheld.stop());

  it('head and beginning of a stream → sent at once, and later failures are not replaced; an error status still is', async () => {
    const held = hold(CREATED);
    chain = await EndpointChain.create(unheld, [{ script: held.script }, { script: sse([DELTA, DONE]) }]);
    const message = await chain.open(STREAM).head;
    expect((await once(message, 'data'))[0].toString()).toBe(CREATED);
    held.release(ERROR);
    expect((await read(message)).body.toString()).toBe(ERROR);
    chain.upstreams[0]?.script(busy());
    expect((await chain.call(STREAM)).body.toString()).toBe(DELTA + DONE);
  });
});
