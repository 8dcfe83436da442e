import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FakeClock } from '../support/clock.js';
import { EndpointChain, RESPONSE, RESPONSE_USD } from '../support/endpoint-chain.js';
import { eventually } from '../support/eventually.js';
import {
  budgetExhausted,
  LimitedApp,
  limitRefusalOf,
  MAX_OUTPUT_TOKENS,
  startLimitedWorld,
} from '../support/limited-app.js';
import { type Answer, documentedRefusals, read, refusalOf } from '../support/proxy-client.js';
import { event, hold, json, resetBeforeAnswer } from '../support/upstream-scripts.js';
import type { World } from '../support/world.js';

/** What the longest answer alone costs from `gpt-4.1`, at 8 dollars per million tokens. */
const WORST_OUTPUT_USD = (MAX_OUTPUT_TOKENS * 8) / 1_000_000;
/** Two calls fit, the second one crossing. */
const TWO_CALLS_USD = 0.01;

let world: World;
let clock: FakeClock;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  ({ world, clock } = await startLimitedWorld({ ABORT_DRAIN_SECONDS: '0', PROVIDER_MAX_CONNECTIONS: '64' }));
  isDocumented = await documentedRefusals(world);
});

afterAll(() => world.stop());

const budget = (monthly_usd: number) => ({ spending: { monthly_usd } });

/** The first moment of the next UTC month. */
function nextMonthMs(): number {
  const now = new Date(clock.nowMs());
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

const untilNextMonth = () => Math.ceil((nextMonthMs() - clock.nowMs()) / 1_000);

describe('budgets (contract-app 8.1, 8.2; decision 4.3)', () => {
  it.each([
    ['user', { per_user: budget(TWO_CALLS_USD) }],
    ['app', { per_app: budget(TWO_CALLS_USD) }],
  ] as const)(
    'of the %s, one call at a time → served until it is spent, one crossing; then 429 until the month ends',
    async (scope, limits) => {
      const app = await LimitedApp.create(world, limits);
      expect(await app.calls(2)).toEqual([200, 200]);
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
  ] as const)('of nothing for the %s → nobody is served, no provider is called', async (scope, limits) => {
    const app = await LimitedApp.create(world, limits);
    const before = world.upstream.requests.length;
    expect(await app.refused()).toEqual(budgetExhausted(scope, untilNextMonth()));
    expect(world.upstream.requests).toHaveLength(before);
  });

  it('twenty calls at once → beyond the budget by less than one of them', async () => {
    const app = await LimitedApp.create(world, { per_app: budget(0.05) });
    const answers = await Promise.all(Array.from({ length: 20 }, () => app.call()));
    const served = answers.filter(({ status }) => status === 200);
    expect(served.length).toBeGreaterThan(0);
    expect((served.length - 1) * RESPONSE_USD).toBeLessThan(0.05);
    const refused = answers.filter(({ status }) => status !== 200).map(limitRefusalOf);
    for (const { code, data, retryAfter } of refused) {
      expect([code, data]).toEqual(['app_budget_exhausted', { scope: 'app' }]);
      expect(retryAfter).toBeGreaterThanOrEqual(1);
    }
    // Whoever comes again, one call at a time, gets what is left.
    await app.client.events(answers.length - refused.length, '&status=ok');
    const more = await app.calls(10);
    const all = served.length + more.filter((status) => status === 200).length;
    expect([all, more.at(-1)]).toEqual([Math.ceil(0.05 / RESPONSE_USD), 429]);
  });

  it('a hundred users, each one call at a time, at any moment while the call before is being stored → never refused early', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    const statuses: number[] = [];
    for (let user = 0; user < 100; user++) {
      statuses.push((await app.call(`user-${user}`)).status);
      await sleep(user % 20);
      statuses.push((await app.call(`user-${user}`)).status);
    }
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });

  it('money that a call under way holds → refused with a short Retry-After, served once that call has ended', async () => {
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

  it('switched on in the middle of the month → what the month has spent counts', async () => {
    const app = await LimitedApp.create(world, {});
    expect(await app.calls(2)).toEqual([200, 200]);
    await app.client.events(2);
    await app.limit({ per_user: budget(TWO_CALLS_USD), per_app: budget(1) });
    expect(await app.refused()).toEqual(budgetExhausted('user', untilNextMonth()));
    expect((await app.call('ben')).status).toBe(200);
    await app.limit({ per_user: budget(0.013) });
    expect(await app.calls(2)).toEqual([200, 429]);
  });

  it('the account’s user and application are both exhausted → the user is named; requests of the user before the application’s budget', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(0.001), per_app: budget(0.001) });
    await app.calls(1);
    expect((await app.refused('ann')).data).toEqual({ scope: 'user' });
    expect((await app.refused('ben')).data).toEqual({ scope: 'app' });
    await app.limit({ per_user: { requests: { per_day: 1 } }, per_app: budget(0.001) });
    expect(await app.refused('ann')).toMatchObject({ code: 'app_rate_limited', data: { scope: 'user' } });
    expect(await app.refused('ben')).toMatchObject({ code: 'app_budget_exhausted', data: { scope: 'app' } });
  });

  it('a blocked user → refused as blocked, whatever is spent', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(0.001) });
    await app.calls(1);
    await app.client.events();
    await world.api.post(`/v1/admin/apps/${app.client.appId}/users/ann/block`);
    expect(refusalOf(await app.call())).toEqual([403, 'auth_required']);
  });
});

describe('what a call counts against a budget (decision 4.3; threats 8.3)', () => {
  it('an answer that does not tell its usage → the most it could have cost, though its cost is told as unknown', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(WORST_OUTPUT_USD) });
    world.upstream.script(json(200, { id: 'resp_1', object: 'response' }));
    expect(await app.calls(2)).toEqual([200, 429]);
    expect(await app.recorded('ok')).toMatchObject([{ cost_source: 'unresolved', cost_usd: 0 }]);
    expect(await app.refused()).toEqual(budgetExhausted('user', untilNextMonth()));
  });

  it('a stream that its client aborts → the most it could have cost', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(WORST_OUTPUT_USD) });
    const held = hold(event({ type: 'response.created' }));
    world.upstream.script(held.script);
    const { request, head } = app.open();
    await once(await head, 'data');
    request.destroy();
    await eventually(() => held.open() === 0, { withinMs: 3_000 });
    await app.recorded('ok');
    expect(await app.refused()).toEqual(budgetExhausted('user', untilNextMonth()));
  });

  it('an error of the provider, and a connection that breaks → nothing', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    world.upstream.script(json(500, { error: {} }));
    expect(await app.calls(3)).toEqual([500, 500, 500]);
    world.upstream.script(resetBeforeAnswer());
    expect(await app.calls(3)).toEqual([502, 502, 502]);
    world.upstream.script(json(200, RESPONSE));
    expect(await app.calls(3)).toEqual([200, 200, 429]);
  });

  it('a named endpoint → held for its dearest target, charged for the one that served', async () => {
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

  it('the next month → a new budget', async () => {
    const app = await LimitedApp.create(world, { per_user: budget(TWO_CALLS_USD) });
    expect(await app.calls(3)).toEqual([200, 200, 429]);
    clock.advance(nextMonthMs() - clock.nowMs());
    expect(await app.calls(3)).toEqual([200, 200, 429]);
  });
});
