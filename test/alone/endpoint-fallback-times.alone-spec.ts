import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EndpointChain, RESPONSE } from '../support/proxy/endpoint-chain.js';
import type { Answer } from '../support/proxy/proxy-client.js';
import {
  garbage,
  json,
  resetBeforeAnswer,
  type Script,
  silence,
  slowHeaders,
} from '../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../support/world.js';

const TTFB_SECONDS = 2;
const OWN_ERROR = '{"error":{"code":"busy","message":"No."}}';

let world: World;
let chain: EndpointChain;

beforeAll(async () => {
  world = await startWorld({ env: { PROVIDER_TTFB_TIMEOUT_SECONDS: String(TTFB_SECONDS) } });
});

afterEach(() => chain.stop());

afterAll(() => world.stop());

async function chained(...scripts: Script[]): Promise<EndpointChain> {
  chain = await EndpointChain.create(
    world,
    scripts.map((script) => ({ script })),
  );
  return chain;
}

const failing = json(503, OWN_ERROR);
const serving = json(200, RESPONSE);

/** The marks of the header by name, in milliseconds. */
function timingsOf({ headers }: Answer): Record<string, number> {
  const marks = String(headers['server-timing']).split(', ');
  return Object.fromEntries(marks.map((mark) => mark.split(';dur=')).map(([name, ms]) => [name, Number(ms)]));
}

describe('the answer to the client', () => {
  it('Server-Timing → only the time to the first byte of the target that answered', async () => {
    await chained(slowHeaders(400, failing), serving);
    expect(timingsOf(await chain.call()).provider_ttfb).toBeLessThan(300);
    await chain.stop();
    await chained(failing, slowHeaders(400, serving));
    const { provider_ttfb } = timingsOf(await chain.call());
    expect([provider_ttfb && provider_ttfb >= 395, provider_ttfb && provider_ttfb < 700]).toEqual([true, true]);
  });
});

describe('the time all targets share', () => {
  it('a primary of two that hangs → the fallback answers before the total time is over', async () => {
    await chained(silence(), serving);
    const startedMs = performance.now();
    expect((await chain.call()).status).toBe(200);
    const tookMs = performance.now() - startedMs;
    expect([tookMs > TTFB_SECONDS * 720, tookMs < TTFB_SECONDS * 950]).toEqual([true, true]);
  });

  it('five targets with five different faults → the sixth answers before the total time is over', async () => {
    await chained(garbage(''), failing, resetBeforeAnswer(), silence(), json(429, OWN_ERROR), serving);
    const startedMs = performance.now();
    expect((await chain.call()).status).toBe(200);
    expect(performance.now() - startedMs).toBeLessThan(TTFB_SECONDS * 1_000);
  });

  it.each<[string, Script[]]>([
    ['the last one stays silent', [resetBeforeAnswer(), silence()]],
    ['all three of them hang', [silence(), silence(), silence()]],
  ])('%s → 504 when the shared time is over, not the full time for each target', async (_name, scripts) => {
    await chained(...scripts);
    const startedMs = performance.now();
    expect((await chain.call()).status).toBe(504);
    const tookMs = performance.now() - startedMs;
    expect([tookMs > TTFB_SECONDS * 950, tookMs < TTFB_SECONDS * 1500]).toEqual([true, true]);
  });
});

describe('cost of a fallback', () => {
  it('from the end of the failed answer to the request at the fallback → p50 of at most 2 ms', async () => {
    let failedAtMs = 0;
    const tookMs: number[] = [];
    await chained(
      async ({ body, response }) => {
        await body();
        response.writeHead(503, { 'content-length': OWN_ERROR.length }).end(OWN_ERROR, () => {
          failedAtMs = performance.now();
        });
      },
      async (exchange) => {
        tookMs.push(performance.now() - failedAtMs);
        await serving(exchange);
      },
    );
    for (let at = 0; at < 70; at++) expect((await chain.call()).status).toBe(200);
    // The first calls open connections and warm the code up.
    const sorted = tookMs.slice(20).toSorted((one, other) => one - other);
    expect(sorted[25]).toBeLessThanOrEqual(2);
  });
});
