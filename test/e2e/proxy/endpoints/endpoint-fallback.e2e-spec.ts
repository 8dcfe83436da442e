import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import {
  type ChainTarget,
  EndpointChain,
  RESPONSE,
  RESPONSE_USD,
  refusingUrl,
  targetOf,
} from '../../../support/proxy/endpoint-chain.js';
import { type Answer, refusalOf } from '../../../support/proxy/proxy-client.js';
import {
  emptyBody,
  garbage,
  json,
  redirect,
  resetBeforeAnswer,
  type Script,
  silence,
} from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const TTFB_SECONDS = 2;
const OWN_ERROR = '{ "error" : {"message":"no", "code":"provider_said_so"} }\n';

let world: World;
let refused: string;
let chain: EndpointChain;

beforeAll(async () => {
  world = await startWorld({ env: { PROVIDER_TTFB_TIMEOUT_SECONDS: String(TTFB_SECONDS) } });
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

const serving = (text: string): Script => json(200, { ...RESPONSE, id: text });
const ownError = (status: number): Script => json(status, OWN_ERROR);
const nobody = (): ChainTarget => ({ provider: { baseUrl: refused } });

function expectServed(answer: Answer, text: string): void {
  expect([answer.status, answer.isComplete]).toEqual([200, true]);
  expect(answer.body.toString()).toBe(JSON.stringify({ ...RESPONSE, id: text }));
}

const timed = async (call: () => Promise<Answer>): Promise<[Answer, number]> => {
  const startedMs = performance.now();
  return [await call(), performance.now() - startedMs];
};

describe('what sends a request to the next target', () => {
  it.each<[string, number | null, () => Script | ChainTarget]>([
    ['a refused connection', null, nobody],
    ['a reset before the answer', null, resetBeforeAnswer],
    ['the end of the connection', null, () => garbage('')],
    ['bytes that are not HTTP', null, () => garbage('hello there\r\n\r\n')],
    ['half a head', null, () => garbage('HTTP/1.1 200 OK\r\ncontent-type: a')],
    ['silence', null, silence],
    ['429', 429, () => ownError(429)],
    ['500', 500, () => ownError(500)],
    ['502', 502, () => emptyBody(502)],
    ['503', 503, () => ownError(503)],
    ['529', 529, () => ownError(529)],
    ['599', 599, () => ownError(599)],
  ])('%s → the fallback’s answer, byte for byte, and one event with both targets', async (_name, status, fault) => {
    await chained(fault(), serving('second'));
    expectServed(await chain.call(), 'second');
    expect(chain.asked[1]).toBe(1);
    expect(await chain.client.events()).toMatchObject([
      { provider_slug: chain.slugs[1], status: 'ok', cost_usd: RESPONSE_USD, endpoint_slug: 'answer' },
    ]);
    expect(await chain.attempts()).toEqual([
      {
        provider_slug: chain.slugs[0],
        model: 'gpt-4.1',
        status,
        latency_ms: expect.any(Number),
        error: status === null ? expect.stringMatching(/^\w+$/) : null,
      },
      { provider_slug: chain.slugs[1], model: 'gpt-4.1', status: 200, latency_ms: expect.any(Number), error: null },
    ]);
    expect(chain.client.lines('gateway_error')).toEqual([]);
    expect(world.logs.filter(({ message }) => message === 'endpoint_fallback')).toMatchObject([
      { endpoint: 'answer', provider: chain.slugs[0], next: chain.slugs[1], reason: expect.any(String) },
    ]);
  });

  it('five targets with five different faults → each called once, in order, and the sixth serves', async () => {
    await chained(nobody(), ownError(503), resetBeforeAnswer(), silence(), ownError(429), serving('sixth'));
    expectServed(await chain.call(), 'sixth');
    expect(chain.asked).toEqual([0, 1, 1, 1, 1, 1]);
    const attempts = await chain.attempts();
    expect(attempts?.map(({ provider_slug }) => provider_slug)).toEqual(chain.slugs);
    expect(attempts?.map(({ status }) => status)).toEqual([null, 503, null, null, 429, 200]);
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[5], cost_usd: RESPONSE_USD }]);
  });

  it('a primary that succeeds → no fallback is called, and its event has no attempts', async () => {
    await chained(serving('first'), serving('second'));
    expectServed(await chain.call(), 'first');
    expect(chain.asked).toEqual([1, 0]);
    expect(await chain.attempts()).toBeNull();
  });
});

describe('final answers', () => {
  it.each([400, 401, 402, 403, 404, 408, 409, 413, 422, 428, 430, 499])(
    '%d of the primary → relayed unchanged, no fallback is called',
    async (status) => {
      await chained(ownError(status), serving('second'));
      const answer = await chain.call();
      expect([answer.status, answer.body.toString(), answer.isComplete]).toEqual([status, OWN_ERROR, true]);
      expect(chain.asked).toEqual([1, 0]);
      expect(await chain.client.events()).toMatchObject([{ status: 'provider_error', provider_slug: chain.slugs[0] }]);
    },
  );

  it('a redirect → relayed, not followed, no fallback is called', async () => {
    await chained(redirect(302, 'http://127.0.0.1:1/'), serving('second'));
    expect((await chain.call()).status).toBe(302);
    expect(chain.asked).toEqual([1, 0]);
  });

  it('an answer that breaks off after its head → cut off, no fallback is called', async () => {
    await chained(async ({ body, response, socket }) => {
      await body();
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"half":', () => socket.destroy());
    }, serving('second'));
    expect((await chain.call()).isComplete).toBe(false);
    expect(chain.asked).toEqual([1, 0]);
  });
});

describe('the last target', () => {
  it.each([429, 500, 503, 529, 404])('its own %d → relayed unchanged', async (status) => {
    await chained(ownError(503), json(status, OWN_ERROR, { 'retry-after': '3', 'x-request-id': 'r' }));
    const answer = await chain.call();
    expect([answer.status, answer.body.toString(), answer.isComplete]).toEqual([status, OWN_ERROR, true]);
    expect(answer.headers).toMatchObject({ 'retry-after': '3', 'x-request-id': 'r' });
    expect(chain.client.lines('gateway_error')).toEqual([]);
    expect(await chain.client.events()).toMatchObject([
      { provider_slug: chain.slugs[1], status: 'provider_error', cost_usd: 0, cost_source: 'computed' },
    ]);
  });

  it.each<[string, () => Script | ChainTarget]>([
    ['refuses the connection', nobody],
    ['resets it', resetBeforeAnswer],
  ])('%s, and none before it answered → 502 provider_error, one log line', async (_name, fault) => {
    await chained(nobody(), fault());
    expect(refusalOf(await chain.call())).toEqual([502, 'provider_error']);
    expect(chain.client.lines('gateway_error')).toMatchObject([{ code: 'provider_error', status: 502 }]);
    expect((await chain.attempts())?.map(({ status }) => status)).toEqual([null, null]);
    expect(await chain.client.events()).toMatchObject([{ provider_slug: chain.slugs[1], status: 'provider_error' }]);
  });

  it('stays silent, and none before it answered → 504 provider_error when the shared time is over', async () => {
    await chained(nobody(), silence());
    const [answer, tookMs] = await timed(() => chain.call());
    expect(refusalOf(answer)).toEqual([504, 'provider_error']);
    expect(tookMs).toBeGreaterThan(TTFB_SECONDS * 950);
  });

  it('refuses the connection after one that stayed silent → 502: the last failure is reported', async () => {
    await chained(silence(), nobody());
    expect(refusalOf(await chain.call())).toEqual([502, 'provider_error']);
  });
});

describe('the time all targets share', () => {
  it('the first of two targets hangs → cancelled at three quarters, and the fallback serves', async () => {
    await chained(silence(), serving('second'));
    expectServed(await chain.call(), 'second');
    const [hung] = (await chain.attempts()) ?? [];
    expect(hung?.latency_ms).toBeGreaterThanOrEqual(TTFB_SECONDS * 720);
    expect(world.logs.filter(({ message }) => message === 'provider_ttfb_timeout')).toHaveLength(1);
  });

  it('two of three hang → the third still has time to serve', async () => {
    await chained(silence(), silence(), serving('third'));
    expectServed(await chain.call(), 'third');
    expect((await chain.attempts())?.map(({ status }) => status)).toEqual([null, null, 200]);
  });

  it('all of them hang → 504 after the shared time, not the full time for each; every connection is closed', async () => {
    await chained(silence(), silence(), silence());
    const [answer, tookMs] = await timed(() => chain.call());
    expect(refusalOf(answer)).toEqual([504, 'provider_error']);
    expect(tookMs).toBeGreaterThan(TTFB_SECONDS * 950);
    expect((await chain.attempts())?.map(({ status }) => status)).toEqual([null, null, null]);
    await eventually(() => chain.upstreams.every((upstream) => upstream.openConnections() === 0), { withinMs: 10_000 });
    expect(await chain.client.events()).toMatchObject([{ status: 'provider_error', provider_slug: chain.slugs[2] }]);
  });
});
