import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import {
  budgetExhausted,
  LimitedApp,
  limitRefusalOf,
  MAX_OUTPUT_TOKENS,
  SENT_USD,
  startLimitedWorld,
} from '../../../support/limits/requests/limited-app.js';
import { EndpointChain, RESPONSE, RESPONSE_USD } from '../../../support/proxy/endpoint-chain.js';
import { type Answer, documentedRefusals, read, refusalOf } from '../../../support/proxy/proxy-client.js';
import { event, hold, json, resetBeforeAnswer, silence } from '../../../support/proxy/upstream-scripts.js';
import { SUMS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';
import type { World } from '../../../support/world.js';

/** The cost of only the longest answer of `gpt-4.1`, at 8 dollars per million tokens. */
const WORST_OUTPUT_USD = (MAX_OUTPUT_TOKENS * 8) / 1_000_000;
/** The estimated input of `{"model":"gpt-4.1"}`, at 2 dollars per million tokens. */
const UNCAPPED_SENT_USD = 0.00001;
/** Two calls fit, the second one crossing. */
const TWO_CALLS_USD = 0.01;

let world: World;
let clock: FakeClock;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  ({ world, clock } = await startLimitedWorld({
    ...{ ABORT_DRAIN_SECONDS: '0', PROVIDER_MAX_CONNECTIONS: '64', PROVIDER_TTFB_TIMEOUT_SECONDS: '1' },
  }));
  isDocumented = documentedRefusals(world);
});

afterAll(() => world.stop());

/** The data of a refusal after one call. */
const spent = (scope: string) => ({ scope, window: 'month', cost_usd: RESPONSE_USD, estimated_cost_usd: 0 });

const budget = (monthly_usd: number) => ({ spending: { monthly_usd } });

/** The first moment of the next UTC month. */
function nextMonthMs(): number {
  const now = new Date(clock.nowMs());
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

const untilNextMonth = () => Math.ceil((nextMonthMs() - clock.nowMs()) / 1_000);

describe('budgets', () => {
  it.each([
    ['user', { per_user: budget(TWO_CALLS_USD) }],
    ['app', { per_app: budget(TWO_CALLS_USD) }],
  ] as const)(
    'of the %s, one call at a time → served until it is spent and crossed by one call; then 429 until the month ends',
    async (scope, limits) => {
      const app = await LimitedApp.create(world, limits);
      expect(await app.calls(2)).toEqual([200, 200]);
      // Until both are stored, a slow database may make the answer "held".
      await app.recorded('ok', 2);
      const answer = await app.call();
      expect(limitRefusalOf(answer)).toEqual(budgetExhausted(scope, untilNextMonth()));
      isDocumented(answer);
      expect((await app.call('ben')).status).toBe(scope === 'user' ? 200 : 429);
      const refused = await app.recorded('blocked_app_budget', scope === 'user' ? 1 : 2);
      expect(refused.at(-1)).toMatchObject({ user_id: 'ann', cost_usd: 0, input_tokens: 0, cost_source: null });
      expect(await app.standing()).toMatchObject({ monthly_cost_usd: 2 * RESPONSE_USD });
    },
  );

  it.each([
    ['user', { per_user: budget(0) }],
    ['app', { per_app: budget(0) }],
  ] as const)('of zero for the %s → nobody is served, no provider is called', async (scope, limits) => {
    const app = await LimitedApp.create(world, limits);
    const before = world.upstream.requests.length;
    expect(await app.refused()).toEqual(budgetExhausted(scope, untilNextMonth()));
    expect(world.upstream.requests).toHaveLength(before);
  });

  it('twenty calls at once → over the budget by less than one of them', async () => {
    const app = await LimitedApp.create(world, { per_app: budget(0.05) });
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.call()));
    const served = answers.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThan(0);
    expect((served.length - 1) * RESPONSE_USD).toBeLessThan(0.05);
    const refused = answers.filter(({ status }) => status !== 200).map(limitRefusalOf);
    for (const { code, data, retryAfter } of refused) {
      expect([code, data]).toMatchObject(['app_budget_exhausted', { scope: 'app', estimated_cost_usd: 0 }]);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
    }
    // A client that retries, one call at a time, gets the remainder.
    await app.client.events(answers.length - refused.length, '&status=ok');
    const more = await app.calls(10);
    const all = served.length + more.filter((status) => status === 200).length;
    expect([all, more.at(-1)]).toEqual([Math.ceil(0.05 / RESPONSE_USD), 429]);
  });

  it('a hundred users with one call at a time, each while the previous call is being stored → never refused early', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    const statuses: number[] = [];
    for (let user = 0; user < 100; user++) {
      statuses.push((await app.call(`user-${user}`)).status);
      await sleep(user % 20);
      statuses.push((await app.call(`user-${user}`)).status);
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('money held by a call under way → refused with a short Retry-After, served once that call has ended', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(WORST_OUTPUT_USD) });
    const held = hold(event({ type: 'response.created' }));
    world.upstream.script(held.script);
    const first = app.open();
    const message = await first.head;
    const refusal = await app.refused();
    expect(refusal).toMatchObject({ code: 'app_budget_exhausted', data: { scope: 'user' } });
    expect(refusal.retryAfter).toBeGreaterThanOrEqual(1);
    expect(refusal.retryAfter).toBeLessThanOrEqual(10);
    held.release(event({ type: 'response.completed', response: RESPONSE }));
    await read(message);
    world.upstream.script(json(200, RESPONSE));
    expect(await app.calls(2)).toEqual([200, 429]);
  });

  it('enabled in the middle of the month → the cost of the month so far counts', async () => {
    const app = await LimitedApp.create(world, {});
    expect(await app.calls(2)).toEqual([200, 200]);
    await app.client.events(2);
    await app.limit({ per_user: budget(TWO_CALLS_USD), per_app: budget(1) });
    expect(await app.refused()).toEqual(budgetExhausted('user', untilNextMonth()));
    expect((await app.call('ben')).status).toBe(200);
    await app.limit({ per_user: budget(0.013) });
    expect(await app.calls(2)).toEqual([200, 429]);
  });

  it('the budgets of user and application are both exhausted → the user is named; the request limit of the user comes before the application’s budget', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(0.001), per_app: budget(0.001) });
    await app.calls(1);
    expect((await app.refused('ann')).data).toEqual(spent('user'));
    expect((await app.refused('ben')).data).toEqual(spent('app'));
    await app.limit({ per_user: { requests: { per_day: 1 } }, per_app: budget(0.001) });
    expect(await app.refused('ann')).toMatchObject({ code: 'app_rate_limited', data: { scope: 'user' } });
    expect(await app.refused('ben')).toMatchObject({ code: 'app_budget_exhausted', data: { scope: 'app' } });
  });

  it('a blocked user → refused as blocked, however much is spent', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(0.001) });
    await app.calls(1);
    await app.client.events();
    await world.api.post(`/v1/admin/apps/${app.client.appId}/users/ann/block`);
    expect(refusalOf(await app.call())).toEqual([403, 'auth_required']);
  });
});

describe('what a call charges to a budget', () => {
  it('ADR 0007: 48 hanging calls that each hold one of ten dollars → the input sent is estimated and shown; calls are still served', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(10), per_app: budget(10) });
    world.upstream.script(silence());
    const uncapped = { body: { model: 'gpt-4.1' } };
    for (let batch = 0; batch < 6; batch++) {
      const hung = await Promise.all(Array.from({ length: 8 }, () => app.call('ann', uncapped)));
      expect(hung.map(({ status }) => status)).toEqual(Array(8).fill(504));
    }
    const estimated_cost_usd = expect.closeTo(48 * UNCAPPED_SENT_USD, 9);
    const events = await app.recorded('provider_error', 48);
    expect(events.map(({ cost_usd, cost_source }) => [cost_usd, cost_source])).toEqual(
      Array(48).fill([0, 'unresolved']),
    );
    expect(events.map((one) => one.estimated_cost_usd)).toEqual(Array(48).fill(UNCAPPED_SENT_USD));
    expect(app.client.lines('usage_unresolved_cost').map(({ reason }) => reason)).toEqual(
      Array(48).fill('provider_timeout'),
    );
    world.upstream.script(json(200, RESPONSE));
    expect(await app.calls(3)).toEqual([200, 200, 200]);
    await app.recorded('ok', 3);
    const told = { cost_usd: expect.closeTo(3 * RESPONSE_USD, 9), estimated_cost_usd };
    const path = `/v1/admin/apps/${app.client.appId}`;
    const read = async (rest: string) => (await world.api.get(path + rest)).body;
    expect(await read('/usage')).toMatchObject(told);
    expect(await read('/usage/timeseries')).toMatchObject({ buckets: [told] });
    expect(await read('/usage/breakdown?by=provider')).toMatchObject({ rows: [told] });
    expect(await read('/usage/breakdown?by=user')).toMatchObject({ rows: [{ key: 'ann', ...told }] });
    expect((await read('/users')).users).toMatchObject([{ id: 'ann', usage: told }]);
    const { apps } = (await world.api.get('/v1/admin/apps')).body;
    expect(apps.find(({ id }: { id: string }) => id === app.client.appId)).toMatchObject({ usage: told });
    expect(await app.standing()).toMatchObject({ monthly_cost_usd: told.cost_usd, estimated_cost_usd });
    await app.limit({ per_user: budget(0.001) });
    expect(await app.refused()).toMatchObject({ data: { scope: 'user', ...told } });
    const message = JSON.parse((await app.call()).body.toString()).error.message;
    expect(message).toContain(': 0.018 USD spent, 0.00048 USD estimated for calls of unknown usage.');
    for (const sql of SUMS_OUT_OF_STEP) expect(await world.dataSource.query(sql)).toEqual([]);
  });

  it('an answer without usage → an estimate of input and received output, with unresolved cost', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(WORST_OUTPUT_USD) });
    world.upstream.script(json(200, { id: 'resp_1', object: 'response' }));
    expect(await app.calls(2)).toEqual([200, 200]);
    const [event] = await app.recorded('ok', 2);
    expect(event).toMatchObject({ cost_source: 'unresolved', cost_usd: 0 });
    expect(event.estimated_cost_usd).toBeGreaterThan(SENT_USD);
    expect(event.estimated_cost_usd).toBeLessThan(WORST_OUTPUT_USD / 10);
  });

  it('a stream that its client aborts → charged for all it may have generated', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(WORST_OUTPUT_USD) });
    const held = hold(event({ type: 'response.created' }));
    world.upstream.script(held.script);
    const { request, head } = app.open();
    await once(await head, 'data');
    request.destroy();
    await eventually(() => held.open() === 0, { withinMs: 10_000 });
    await app.recorded('ok');
    expect(await app.refused()).toEqual(budgetExhausted('user', untilNextMonth()));
  });

  it('an error from the provider → nothing; a broken connection → the input sent', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    world.upstream.script(json(500, { error: {} }));
    expect(await app.calls(3)).toEqual([500, 500, 500]);
    world.upstream.script(resetBeforeAnswer());
    expect(await app.calls(3)).toEqual([502, 502, 502]);
    world.upstream.script(json(200, RESPONSE));
    expect(await app.calls(3)).toEqual([200, 200, 429]);
  });

  it('a named endpoint → held for its most expensive target, charged for the one that served', async () => {
    const dear = { model: 'gpt-dear', provider: { pricing: { 'gpt-dear': { input: 2_000, output: 8_000 } } } };
    const chain = await EndpointChain.create(world, [
      { script: json(503, {}) },
      { ...dear, script: json(503, {}) },
      {},
    ]);
    const app = LimitedApp.of(world, chain.client);
    await app.limit({ per_app: budget(TWO_CALLS_USD) });
    const body = { input: 'Hi', max_output_tokens: MAX_OUTPUT_TOKENS };
    expect([(await chain.call({ body })).status, (await chain.call({ body })).status]).toEqual([200, 200]);
    expect(limitRefusalOf(await chain.call({ body }))).toEqual(budgetExhausted('app', untilNextMonth()));
    await chain.stop();
  });

  it('ADR 0017: thirty calls at a time over a chain whose first target hangs → both targets count, never over the budget by more than one worst case', async () => {
    const chain = await EndpointChain.create(world, [{ script: silence() }, {}]);
    const app = LimitedApp.of(world, chain.client);
    const [limit, worst] = [0.05, 0.009];
    await app.limit({ per_app: budget(limit) });
    const body = { input: 'Hi', max_output_tokens: MAX_OUTPUT_TOKENS };
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => chain.call({ body })));
      statuses.push(...answers.map(({ status }) => status));
    }
    const served = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 429)).toHaveLength(90 - served);
    const events = await app.recorded('ok', served);
    for (const event of events) expect(event).toMatchObject({ cost_usd: RESPONSE_USD, cost_source: 'unresolved' });
    const [{ spent }] = await world.dataSource.query(
      "SELECT spent_nano_usd::float / 1e9 AS spent FROM budget_periods WHERE app_id = $1 AND scope = 'app' AND window_name = 'month'",
      [app.client.appId],
    );
    const estimated = events.reduce((sum, event) => sum + event.estimated_cost_usd, 0);
    expect(estimated).toBeGreaterThan(0);
    expect(spent).toBeCloseTo(served * RESPONSE_USD + estimated, 9);
    expect([spent > limit - worst, spent < limit + worst]).toEqual([true, true]);
    await chain.stop();
  });

  it('the next month → a new budget', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    expect(await app.calls(3)).toEqual([200, 200, 429]);
    clock.advance(nextMonthMs() - clock.nowMs());
    expect(await app.calls(3)).toEqual([200, 200, 429]);
  });
});
