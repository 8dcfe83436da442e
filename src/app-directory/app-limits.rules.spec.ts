import { describe, expect, it } from '@jest/globals';
import { appLimits } from './app-limits.rules.js';
import { MAX_MONTHLY_USD, UNLIMITED } from './config/limits-config.js';

const scope = (per_minute: number | null, per_day: number | null, monthly_usd: number | null) => ({
  requests: { per_minute, per_day },
  spending: { monthly_usd },
});

const NO_OTHERS = { groups: [], runMaxNanoUsd: undefined, unproven: undefined };

describe('limits of an application for its calls', () => {
  it('nothing is limited → undefined, so that calls skip the check', () => {
    expect(appLimits({ per_user: UNLIMITED, per_app: UNLIMITED })).toBeUndefined();
  });

  it('everything is limited → requests as configured, budgets in whole nano-dollars', () => {
    expect(appLimits({ per_user: scope(10, 300, 0.000001), per_app: scope(1, 2, MAX_MONTHLY_USD) })).toEqual({
      ...NO_OTHERS,
      user: { requests: { perMinute: 10, perDay: 300 }, budgets: [{ window: 'month', limit: 1_000 }] },
      app: {
        requests: { perMinute: 1, perDay: 2 },
        budgets: [{ window: 'month', limit: MAX_MONTHLY_USD * 1_000_000_000 }],
      },
    });
  });

  it.each([
    ['requests alone', scope(null, 5, null), { requests: { perMinute: null, perDay: 5 }, budgets: [] }],
    [
      'a budget alone',
      scope(null, null, 2.5),
      { requests: undefined, budgets: [{ window: 'month', limit: 2_500_000_000 }] },
    ],
    ['a budget of nothing', scope(null, null, 0), { requests: undefined, budgets: [{ window: 'month', limit: 0 }] }],
  ])('%s → the rest of the scope is undefined', (_name, limits, expected) => {
    expect(appLimits({ per_user: UNLIMITED, per_app: limits })).toEqual({
      ...NO_OTHERS,
      user: undefined,
      app: expected,
    });
  });

  it('budgets of several windows → the longest window first', () => {
    const spending = { monthly_usd: 3, daily_usd: 1, total_usd: 9, weekly_usd: 2 };
    const { app } = appLimits({ per_user: UNLIMITED, per_app: { ...scope(null, null, null), spending } }) ?? {};
    expect(app?.budgets.map(({ window, limit }) => [window, limit / 1e9])).toEqual([
      ['total', 9],
      ['month', 3],
      ['week', 2],
      ['day', 1],
    ]);
  });

  it('groups and runs → as configured; limits of tokens and of requests of groups are budgets, the longest window first', () => {
    const team = { ...UNLIMITED, header: 'x-team', requests: { per_minute: 3, per_day: null }, tokens: { per_day: 9 } };
    const groups = { team, tenant: { ...UNLIMITED, claim: 'org', spending: { monthly_usd: 1 } } };
    const per_app = { ...UNLIMITED, tokens: { per_minute: 5, per_day: 6 } };
    expect(appLimits({ per_user: UNLIMITED, per_app, groups, runs: { max_usd: 0.5 } })).toMatchObject({
      app: {
        budgets: [
          { window: 'day_tokens', limit: 6 },
          { window: 'minute_tokens', limit: 5 },
        ],
      },
      groups: [
        {
          ...{ name: 'team', header: 'x-team', claim: undefined },
          budgets: [
            { window: 'day_tokens', limit: 9 },
            { window: 'minute_requests', limit: 3 },
          ],
        },
        { name: 'tenant', header: undefined, claim: 'org', budgets: [{ window: 'month', limit: 1_000_000_000 }] },
      ],
      runMaxNanoUsd: 500_000_000,
    });
  });

  it('a pool of devices without a proof → its budgets, and the endpoints that stay available', () => {
    const scopes = { per_user: UNLIMITED, per_app: UNLIMITED };
    const pool = { ...UNLIMITED, requests: { per_minute: null, per_day: 5 } };
    expect(appLimits({ ...scopes, unproven: { ...pool, allowed_endpoints: ['ask'] } })?.unproven).toEqual({
      budgets: [{ window: 'day_requests', limit: 5 }],
      endpoints: new Set(['ask']),
    });
    expect(appLimits({ ...scopes, unproven: UNLIMITED })?.unproven).toEqual({ budgets: [], endpoints: undefined });
  });
});
