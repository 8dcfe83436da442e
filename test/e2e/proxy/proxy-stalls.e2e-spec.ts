import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { eventually } from '../../support/eventually.js';
import { LimitedApp, MAX_OUTPUT_TOKENS, startLimitedWorld } from '../../support/limits/requests/limited-app.js';
import { EndpointChain, RESPONSE, RESPONSE_USD } from '../../support/proxy/endpoint-chain.js';
import { read } from '../../support/proxy/proxy-client.js';
import { event, type Script, sse } from '../../support/proxy/upstream-scripts.js';
import type { World } from '../../support/world.js';

const STALL_SECONDS = 2;
const SILENCE_SECONDS = 2;
/** Enough to read the answer of a provider even on a busy machine. */
const ABORT_DRAIN_SECONDS = 3;
const MIB = 1024 * 1024;
/** Far more than the sockets between provider and client hold. */
const LARGE_BYTES = 32 * MIB;
const BUDGET = { spending: { monthly_usd: 50 } };
const NANO_USD = 1_000_000_000;
/** The minimum estimate of an answer of unknown cost: the output asked for, at 8 dollars per million. */
const UNKNOWN_USD = (MAX_OUTPUT_TOKENS * 8) / 1_000_000;
const ENDED = { withinMs: 10_000 };

const BEGUN = event({ type: 'response.created' });
const DELTA = event({ type: 'response.output_text.delta', delta: 'x'.repeat(16 * 1024) });
const DONE = event({ type: 'response.completed', response: RESPONSE });

let world: World;
let app: LimitedApp;

beforeAll(async () => {
  ({ world } = await startLimitedWorld({
    CLIENT_STALL_TIMEOUT_SECONDS: String(STALL_SECONDS),
    PROVIDER_SILENCE_TIMEOUT_SECONDS: String(SILENCE_SECONDS),
    ABORT_DRAIN_SECONDS: String(ABORT_DRAIN_SECONDS),
    // Longer than the silence: a stream without content can be replaced until its provider times out.
    FALLBACK_HOLD_MS: '10000',
    // So few that one that is not returned makes a later test fail.
    PROVIDER_MAX_CONNECTIONS: '1',
  }));
});

beforeEach(async () => {
  world.logs.length = 0;
  app = await LimitedApp.create(world, { per_user: BUDGET, per_app: BUDGET });
});

afterAll(() => world.stop());

/** Sends more than a client that reads nothing can take, then `last`; the answer ends if `ends`. */
function large(last: string, ends: boolean): Script {
  return async ({ body, response }) => {
    await body();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let sent = 0; sent < LARGE_BYTES && !response.destroyed; sent += DELTA.length) {
      if (!response.write(DELTA)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.write(last);
    if (ends) response.end();
  };
}

/** Sends a piece and nothing more, without an end. */
function stopsAfter(piece: string, headers = { 'content-type': 'text/event-stream' }): Script {
  return async ({ body, response }) => {
    await body();
    response.writeHead(200, headers).write(piece);
  };
}

/** No requests, calls to providers or holds remain. */
async function nothingHeld(): Promise<void> {
  const { budgetHolds, budgetHeld, openProviderCalls, openRequests } = world.gateway.app.get(Metrics);
  const open = () => [budgetHolds.read(), budgetHeld.read(), openProviderCalls.read(), openRequests.of().value];
  await eventually(() => open().every((count) => count === 0), ENDED);
}

async function spentUsd(): Promise<number> {
  await nothingHeld();
  const [row]: { spent: string }[] = await world.dataSource.query(
    `SELECT spent_nano_usd AS spent FROM budget_periods WHERE app_id = $1 AND scope = 'app' AND window_name = 'month'`,
    [app.client.appId],
  );
  return Number(row?.spent ?? 0) / NANO_USD;
}

/** Log lines about stalled clients, with the fields that a test knows. */
const stalls = () =>
  world.logs.filter(({ message }) => message === 'client_stalled').map(({ timestamp, ...line }) => line);

/** Reads half a mebibyte at a time, with pauses; returns the number of bytes and whether the answer was complete. */
async function readSlowly(message: IncomingMessage): Promise<[bytes: number, isComplete: boolean]> {
  let bytes = 0;
  let rested = 0;
  for await (const piece of message) {
    bytes += (piece as Buffer).length;
    if (bytes - rested < MIB / 2) continue;
    rested = bytes;
    await sleep(100);
  }
  return [bytes, message.complete];
}

describe('a client that does not read its answer', () => {
  it('for CLIENT_STALL_TIMEOUT_SECONDS → treated as disconnected: its answer is read up to the usage and billed, nothing stays held', async () => {
    world.upstream.script(large(DONE, true));
    const { head } = app.open();
    const message = await head;
    await nothingHeld();
    expect(await app.client.events()).toMatchObject([
      { status: 'ok', client_aborted: 1, cost_source: 'computed', cost_usd: RESPONSE_USD },
    ]);
    expect(await spentUsd()).toBe(RESPONSE_USD);
    const path = `/v1/apps/${app.client.appId}/proxy/${app.client.slug}/v1/responses`;
    expect(stalls()).toEqual([
      { level: 'warn', message: 'client_stalled', method: 'POST', path, timeoutSeconds: STALL_SECONDS },
    ]);
    expect((await read(message)).isComplete).toBe(false);
  });

  it('and the provider does not end either → cancelled, unresolved, and all it may have generated is charged', async () => {
    world.upstream.script(large('', false));
    const message = await app.open().head;
    await nothingHeld();
    expect(await app.client.events()).toMatchObject([
      { status: 'ok', client_aborted: 1, cost_source: 'unresolved', cost_usd: 0 },
    ]);
    expect(await spentUsd()).toBeGreaterThan(UNKNOWN_USD);
    message.destroy();
  });

  it('a slow client that keeps reading → gets every byte', async () => {
    world.upstream.script(large(DONE, true));
    const startedMs = performance.now();
    const [bytes, isComplete] = await readSlowly(await app.open().head);
    expect([bytes > LARGE_BYTES, isComplete]).toEqual([true, true]);
    expect(performance.now() - startedMs).toBeGreaterThan(2 * STALL_SECONDS * 1_000);
    expect(await app.client.events()).toMatchObject([{ status: 'ok', client_aborted: null, cost_usd: RESPONSE_USD }]);
    expect(stalls()).toEqual([]);
  });
});

describe('a provider that stops in the middle of its answer', () => {
  it.each([
    ['a stream', undefined],
    ['an answer with a length', { 'content-type': 'application/json', 'content-length': '1000' }],
  ])(
    '%s, for PROVIDER_SILENCE_TIMEOUT_SECONDS → cut off, recorded, and charged for all it may have generated',
    async (_name, headers) => {
      world.upstream.script(stopsAfter(BEGUN, headers));
      const answer = await app.call();
      expect([answer.status, answer.isComplete]).toEqual([200, false]);
      expect(await app.client.events()).toMatchObject([{ status: 'provider_error', cost_source: 'unresolved' }]);
      expect(await spentUsd()).toBeGreaterThan(UNKNOWN_USD);
      expect(world.logs.filter(({ message }) => message === 'provider_stream_failed')).toMatchObject([
        { provider: app.client.slug, error: 'silent' },
      ]);
    },
  );

  it('after its usage → the answer is still cut off, and billed accordingly', async () => {
    world.upstream.script(stopsAfter(BEGUN + DONE));
    expect((await app.call()).isComplete).toBe(false);
    expect(await app.client.events()).toMatchObject([{ status: 'provider_error', cost_usd: RESPONSE_USD }]);
    expect(await spentUsd()).toBe(RESPONSE_USD);
  });

  it('a slow provider that keeps sending → never cut off', async () => {
    const pieces = [BEGUN, ...Array<string>(8).fill(': wait\n\n'), DONE];
    world.upstream.script(sse(pieces, { delayMs: SILENCE_SECONDS * 250 }));
    const startedMs = performance.now();
    const answer = await app.call();
    expect([answer.isComplete, answer.body.toString()]).toEqual([true, pieces.join('')]);
    expect(performance.now() - startedMs).toBeGreaterThan(2 * SILENCE_SECONDS * 1_000);
  });

  it('before its first content, with a fallback → the fallback serves, and the possible charge of the silent one is recorded', async () => {
    const chain = await EndpointChain.create(world, [{ script: stopsAfter(BEGUN) }, { script: sse([BEGUN, DONE]) }], {
      max_output_tokens: MAX_OUTPUT_TOKENS,
    });
    app = LimitedApp.of(world, chain.client);
    const answer = await chain.call({ body: { input: 'Hi', stream: true } });
    expect(answer.body.toString()).toBe(BEGUN + DONE);
    expect(await chain.attempts()).toMatchObject([
      { status: 200, error: 'provider_silent' },
      { status: 200, error: null },
    ]);
    expect(await spentUsd()).toBeGreaterThan(RESPONSE_USD + UNKNOWN_USD);
    await chain.stop();
  });
});

describe('an answer that takes long to start', () => {
  it('client that waits for a slow provider → not treated as one that does not read', async () => {
    const script = sse([BEGUN, DONE], { delayMs: SILENCE_SECONDS * 500 });
    world.upstream.script(async (exchange) => {
      await exchange.body();
      await sleep(2 * STALL_SECONDS * 1_000);
      await script(exchange);
    });
    expect((await app.call()).isComplete).toBe(true);
    expect(stalls()).toEqual([]);
  });
});
