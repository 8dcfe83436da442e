import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../../src/common/errors/gateway-error.js';
import { UsageJournal } from '../../../../src/platform/journal/usage-journal.js';
import { Metrics } from '../../../../src/platform/metrics/metrics.js';
import { UpstreamConnections } from '../../../../src/proxy/connections/upstream-connections.js';
import { eventually } from '../../../support/eventually.js';
import { CUT_USD, LimitedApp, SENT_USD, startLimitedWorld } from '../../../support/limits/requests/limited-app.js';
import {
  type ChainTarget,
  EndpointChain,
  RESPONSE,
  RESPONSE_USD,
  refusingUrl,
} from '../../../support/proxy/endpoint-chain.js';
import { read } from '../../../support/proxy/proxy-client.js';
import {
  dieAfter,
  event,
  hold,
  json,
  resetBeforeAnswer,
  type Script,
  silence,
  sse,
} from '../../../support/proxy/upstream-scripts.js';
import type { World } from '../../../support/world.js';

/** Far more than all calls of a test can cost. */
const BUDGET = { spending: { monthly_usd: 50 } };
const LIMITS = { per_user: BUDGET, per_app: BUDGET };
const BEGUN = event({ type: 'response.created' });
const DONE = event({ type: 'response.completed', response: RESPONSE });
const FAILED = event({ type: 'response.failed', response: { ...RESPONSE, status: 'failed', output: [] } });
const NANO_USD = 1_000_000_000;
const CHAIN_CAP = 1_000;
/** The estimated input of a chain’s usual call. */
const CHAIN_SENT_USD = (Math.ceil('{"input":"Hi"}'.length / 4) * 2) / 1_000_000;
const FAILURE = event({ type: 'error', code: 'server_error', message: 'Overloaded.' });
/** Maximum time until an event is stored. */
const STORED = { withinMs: 10_000 };

let world: World;

beforeAll(async () => {
  const env = { PROVIDER_TTFB_TIMEOUT_SECONDS: '1', PROVIDER_MAX_CONNECTIONS: '1', ABORT_DRAIN_SECONDS: '0' };
  ({ world } = await startLimitedWorld(env));
});

/** Nothing may remain of the holds of the previous test. */
afterEach(() => nothingHeld());

afterAll(() => world.stop());

/** Every hold has ended, and nothing of any budget waits to be stored. */
async function nothingHeld(): Promise<void> {
  const { budgetHolds, budgetHeld } = world.gateway.app.get(Metrics);
  await eventually(() => budgetHolds.read() === 0 && budgetHeld.read() === 0, STORED);
}

/** The spent amounts of the application’s budget, then of its user’s, in dollars; absent if zero. */
async function spent(app: LimitedApp): Promise<number[]> {
  await nothingHeld();
  const rows: { spent: string }[] = await world.dataSource.query(
    `SELECT spent_nano_usd AS spent FROM budget_periods
     WHERE app_id = $1 AND window_name = 'month' AND spent_nano_usd > 0 ORDER BY subject`,
    [app.client.appId],
  );
  return rows.map((row) => Number(row.spent) / NANO_USD);
}

const newApp = () => LimitedApp.create(world, LIMITS);

describe('calls that reached their provider → settled once', () => {
  it.each<[string, Script, number, number]>([
    ['a whole answer', json(200, RESPONSE), 200, RESPONSE_USD],
    ['a whole stream', sse([BEGUN, DONE]), 200, RESPONSE_USD],
    ['an error', json(500, { error: {} }), 500, 0],
    ['a limit of the provider’s own', json(429, { error: {} }), 429, 0],
    ['a broken connection: what was sent', resetBeforeAnswer(), 502, SENT_USD],
    ['silence: the same', silence(), 504, SENT_USD],
    ['a stream that breaks off: all it may have generated, too', dieAfter(BEGUN.length, BEGUN), 200, CUT_USD],
  ])('%s', async (_name, script, status, usd) => {
    const app = await newApp();
    world.upstream.script(script);
    expect((await app.call()).status).toBe(status);
    await app.client.events();
    expect(await spent(app)).toEqual(usd === 0 ? [] : [usd, usd]);
  });

  it('an answer without usage → the input sent and the output received', async () => {
    const app = await newApp();
    const answer = { object: 'response', text: 'x'.repeat(400) };
    world.upstream.script(json(200, answer));
    await app.call();
    const [{ cost_usd, estimated_cost_usd }] = await app.client.events();
    const usd = SENT_USD + (Math.ceil(JSON.stringify(answer).length / 4) * 8) / 1_000_000;
    expect([cost_usd, estimated_cost_usd]).toEqual([0, usd]);
    expect(await spent(app)).toEqual([usd, usd]);
  });

  it('a client that disconnects before the answer, and one that disconnects in the middle', async () => {
    const app = await newApp();
    world.upstream.forget();
    world.upstream.script(silence());
    const early = app.open();
    await eventually(() => world.upstream.requests[0]?.isComplete === true, STORED);
    early.request.destroy();
    await app.client.events();
    await nothingHeld();
    const held = hold(BEGUN);
    world.upstream.script(held.script);
    const late = app.open();
    await once(await late.head, 'data');
    late.request.destroy();
    await app.client.events(2);
    const usd = expect.closeTo(SENT_USD + CUT_USD, 9);
    expect(await spent(app)).toEqual([usd, usd]);
  });

  it('a connection refused → an event without cost', async () => {
    const app = await newApp();
    const provider = await world.provider({ baseUrl: await refusingUrl() });
    const there = LimitedApp.of(world, app.client.at(provider.slug));
    expect((await there.call()).status).toBe(502);
    await app.client.events();
    expect(await spent(app)).toEqual([]);
  });
});

describe('calls that reached no provider → hold returned', () => {
  it('no connection is free', async () => {
    const app = await newApp();
    const held = hold(BEGUN);
    world.upstream.script(held.script);
    const message = await app.open().head;
    expect((await app.call()).status).toBe(503);
    held.release(DONE);
    await read(message);
    await app.client.events();
    expect(await spent(app)).toEqual([RESPONSE_USD, RESPONSE_USD]);
  });

  it('a request limit refuses after the budgets admit', async () => {
    const app = await LimitedApp.create(world, { ...LIMITS, per_user: { ...BUDGET, requests: { per_day: 1 } } });
    expect(await app.calls(3)).toEqual([200, 429, 429]);
    await app.client.events(1, '&status=ok');
    expect(await spent(app)).toEqual([RESPONSE_USD, RESPONSE_USD]);
  });

  it('the application’s budget refuses after the user’s admits', async () => {
    const app = await LimitedApp.create(world, { per_user: BUDGET, per_app: { spending: { monthly_usd: 0 } } });
    expect(await app.calls(3)).toEqual([429, 429, 429]);
    expect(await spent(app)).toEqual([]);
  });

  it('the call cannot be recorded', async () => {
    const app = await newApp();
    const journal = world.gateway.app.get(UsageJournal);
    const { admit } = journal;
    journal.admit = () => {
      throw new GatewayError('service_unavailable', { reason: 'usage_journal_failed' });
    };
    try {
      expect((await app.call()).status).toBe(503);
    } finally {
      journal.admit = admit;
    }
    await nothingHeld();
    expect(await app.calls(1)).toEqual([200]);
  });

  it('a defect between the admission and the call', async () => {
    const app = await newApp();
    const connections = world.gateway.app.get(UpstreamConnections);
    const { poolFor } = connections;
    connections.poolFor = () => {
      throw new Error('a defect of ours');
    };
    try {
      expect((await app.call()).status).toBe(500);
    } finally {
      connections.poolFor = poolFor;
    }
    await nothingHeld();
    expect(await app.calls(1)).toEqual([200]);
  });

  it('thirty clients that disconnect at any moment', async () => {
    const app = await newApp();
    world.upstream.script(silence());
    const calls = Array.from({ length: 30 }, () => app.open());
    for (const [at, { request }] of calls.entries()) setTimeout(() => request.destroy(), at * 2);
    await Promise.all(calls.map(({ request }) => new Promise((resolve) => request.on('close', resolve))));
    await nothingHeld();
  });
});

describe('named endpoints → held once, settled once', () => {
  let chain: EndpointChain | undefined;

  afterEach(() => chain?.stop());

  async function chained(...targets: ChainTarget[]): Promise<LimitedApp> {
    chain = await EndpointChain.create(world, targets);
    const app = LimitedApp.of(world, chain.client);
    await app.limit({ per_app: BUDGET });
    return app;
  }

  const failing: ChainTarget = { script: json(503, {}) };
  const sentUsd = () => (Math.ceil(`{"input":"Hi","max_output_tokens":${CHAIN_CAP}}`.length / 4) * 2) / 1_000_000;

  it.each<[string, () => Promise<ChainTarget[]>, number, number]>([
    ['the second target serves', async () => [failing, {}], 200, RESPONSE_USD],
    ['none serves', async () => [failing, failing], 503, 0],
    [
      'the first cannot be reached, the second serves',
      async () => [{ provider: { baseUrl: await refusingUrl() } }, {}],
      200,
      RESPONSE_USD,
    ],
    [
      'the first breaks before its head: it may have served all the same',
      async () => [{ script: resetBeforeAnswer() }, {}],
      200,
      RESPONSE_USD + CHAIN_SENT_USD,
    ],
    [
      'a stream fails before its content and reports its usage, the second serves: both may be charged for',
      async () => [{ script: sse([BEGUN, FAILED]) }, {}],
      200,
      2 * RESPONSE_USD,
    ],
  ])('%s', async (_name, targets, status, usd) => {
    const app = await chained(...(await targets()));
    expect((await chain?.call())?.status).toBe(status);
    await app.client.events();
    expect(await spent(app)).toEqual(usd === 0 ? [] : [usd]);
  });

  it.each<[string, Script, number, string]>([
    [
      'breaks: all it may have generated',
      dieAfter(BEGUN.length, BEGUN),
      sentUsd() + (CHAIN_CAP * 8) / 1_000_000,
      'unresolved',
    ],
    ['fails in its own words: nothing', sse([FAILURE]), 0, 'computed'],
  ])(
    'ADR 0007: a stream before its content %s → estimated in addition to the cost of the second target, and shown with it',
    async (_name, script, usd, source) => {
      const app = await chained({ script }, {});
      expect((await chain?.call({ body: { input: 'Hi', max_output_tokens: CHAIN_CAP } }))?.status).toBe(200);
      const [event] = await app.client.events();
      expect(event).toMatchObject({ cost_usd: RESPONSE_USD, cost_source: source });
      expect(event.estimated_cost_usd).toBeCloseTo(usd, 9);
      expect(event.attempts).toHaveLength(2);
      expect((await spent(app))[0]).toBeCloseTo(RESPONSE_USD + usd, 9);
    },
  );

  it('no target has a free connection', async () => {
    const held = hold(BEGUN);
    const app = await chained({ script: held.script });
    const message = await chain?.open().head;
    expect((await chain?.call())?.status).toBe(503);
    held.release(DONE);
    if (message !== undefined) await read(message);
    await app.client.events();
    expect(await spent(app)).toEqual([RESPONSE_USD]);
  });
});
