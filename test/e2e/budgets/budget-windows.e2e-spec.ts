import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FakeClock } from '../../support/clock.js';
import { LimitedApp, startLimitedWorld } from '../../support/limits/requests/limited-app.js';
import { RESPONSE_USD } from '../../support/proxy/endpoint-chain.js';
import { type Answer, documentedRefusals } from '../../support/proxy/proxy-client.js';
import type { World } from '../../support/world.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Two calls fit, the second one crossing. */
const TWO_CALLS_USD = 0.01;
/** More than a test spends. */
const ENOUGH_USD = 5;

let world: World;
let clock: FakeClock;
let isDocumented: (answer: Answer) => void;

beforeAll(async () => {
  ({ world, clock } = await startLimitedWorld());
  isDocumented = documentedRefusals(world);
});

afterAll(() => world.stop());

const midnightMs = () => Math.floor(clock.nowMs() / DAY_MS) * DAY_MS;

/** The first moment of the next period, computed only from the calendar. */
const NEXT_MS = {
  daily_usd: () => midnightMs() + DAY_MS,
  weekly_usd: () => {
    const sinceMonday = (new Date(clock.nowMs()).getUTCDay() + 6) % 7;
    return midnightMs() + (7 - sinceMonday) * DAY_MS;
  },
  monthly_usd: () => {
    const now = new Date(clock.nowMs());
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  },
} as const;

const WINDOWS = { daily_usd: 'day', weekly_usd: 'week', monthly_usd: 'month', total_usd: 'total' } as const;

describe.each(['user', 'app'] as const)('budgets of the %s', (scope) => {
  const limit = (spending: Record<string, number>) => ({ [`per_${scope}`]: { spending } });

  it.each(['daily_usd', 'weekly_usd', 'monthly_usd'] as const)(
    '%s → served until it is spent, refused until its period ends, and the window is named; then served again',
    async (member) => {
      const app = await LimitedApp.create(world, limit({ [member]: TWO_CALLS_USD }));
      expect(await app.calls(2)).toEqual([200, 200]);
      await app.recorded('ok', 2);
      const answer = await app.call();
      isDocumented(answer);
      const { error } = JSON.parse(answer.body.toString());
      expect([answer.status, error.code, error.data]).toEqual([
        ...[429, 'app_budget_exhausted'],
        { scope, window: WINDOWS[member], cost_usd: 2 * RESPONSE_USD, estimated_cost_usd: 0 },
      ]);
      const leftMs = NEXT_MS[member]() - clock.nowMs();
      expect(Number(answer.headers['retry-after'])).toBe(Math.ceil(leftMs / 1_000));
      const before = clock.nowMs();
      clock.advance(leftMs - 1);
      expect((await app.call()).status).toBe(429);
      clock.advance(1);
      expect((await app.call()).status).toBe(200);
      clock.advance(before - clock.nowMs());
    },
  );

  it('set after two calls → they count', async () => {
    const members = ['daily_usd', 'weekly_usd', 'total_usd'] as const;
    for (const member of scope === 'app' ? members : members.slice(0, 2)) {
      const app = await LimitedApp.create(world, {});
      expect(await app.calls(2)).toEqual([200, 200]);
      await app.recorded('ok', 2);
      await app.limit(limit({ [member]: TWO_CALLS_USD }));
      expect((await app.refused()).data).toMatchObject({ scope, window: WINDOWS[member], cost_usd: 2 * RESPONSE_USD });
    }
  });

  it('several are spent → the one that ends last is named; several are not → the tightest decides', async () => {
    const app = await LimitedApp.create(world, limit({ daily_usd: TWO_CALLS_USD, weekly_usd: ENOUGH_USD }));
    expect(await app.calls(2)).toEqual([200, 200]);
    await app.recorded('ok', 2);
    expect((await app.refused()).data).toMatchObject({ window: 'day' });
    await app.limit(limit({ daily_usd: TWO_CALLS_USD, weekly_usd: TWO_CALLS_USD, monthly_usd: TWO_CALLS_USD }));
    expect((await app.refused()).data).toMatchObject({ window: 'month' });
    await app.limit(limit({ daily_usd: TWO_CALLS_USD, weekly_usd: TWO_CALLS_USD, monthly_usd: ENOUGH_USD }));
    expect((await app.refused()).data).toMatchObject({ window: 'week' });
  });
});

describe('budgets of other kinds', () => {
  it('total_usd → refused without Retry-After, also in a later month', async () => {
    const app = await LimitedApp.create(world, { per_app: { spending: { total_usd: TWO_CALLS_USD } } });
    expect(await app.calls(2)).toEqual([200, 200]);
    await app.recorded('ok', 2);
    const answer = await app.call();
    isDocumented(answer);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, undefined]);
    expect(JSON.parse(answer.body.toString()).error.data).toMatchObject({ scope: 'app', window: 'total' });
    clock.advance(40 * DAY_MS);
    expect((await app.call()).status).toBe(429);
    clock.advance(-40 * DAY_MS);
  });

  it('the user and the application are spent → the user is named', async () => {
    const spending = { daily_usd: 0.001 };
    const app = await LimitedApp.create(world, {
      per_user: { spending },
      per_app: { spending: { weekly_usd: 0.001 } },
    });
    await app.calls(1);
    await app.recorded('ok', 1);
    expect((await app.refused('ann')).data).toMatchObject({ scope: 'user', window: 'day' });
    expect((await app.refused('ben')).data).toMatchObject({ scope: 'app', window: 'week' });
  });

  it('/me → the amount spent in each window with a budget', async () => {
    const spending = { daily_usd: 1, weekly_usd: 2 };
    const app = await LimitedApp.create(world, { per_user: { spending } });
    await app.calls(2);
    await app.recorded('ok', 2);
    expect(await app.standing()).toMatchObject({
      ...{ daily_cost_usd: 2 * RESPONSE_USD, daily_budget_usd: 1, weekly_cost_usd: 2 * RESPONSE_USD },
      ...{ weekly_budget_usd: 2, monthly_budget_usd: null },
    });
  });

  it('total_usd of a user → 400 that says what to set instead', async () => {
    const { status, body } = await world.api.post('/v1/admin/apps', {
      name: 'Notes',
      config: {
        authentication: { type: 'api_key', end_user: { source: 'header' } },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
        limits: { per_user: { spending: { total_usd: 1 } } },
      },
    });
    expect([status, body.error.message]).toEqual([400, expect.stringMatching(/limits\.per_user\.spending\.total_usd/)]);
  });
});
