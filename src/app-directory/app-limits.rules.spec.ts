import { describe, expect, it } from '@jest/globals';
import { appLimits } from './app-limits.rules.js';
import { MAX_MONTHLY_USD, UNLIMITED } from './config/limits-config.js';

const scope = (per_minute: number | null, per_day: number | null, monthly_usd: number | null) => ({
  requests: { per_minute, per_day },
  spending: { monthly_usd },
});

describe('limits of an application for its calls', () => {
  it('nothing is limited → undefined, so that calls skip the check', () => {
    expect(appLimits({ per_user: UNLIMITED, per_app: UNLIMITED })).toBeUndefined();
  });

  it('everything is limited → requests as configured, budgets in whole nano-dollars', () => {
    expect(appLimits({ per_user: scope(10, 300, 0.000001), per_app: scope(1, 2, MAX_MONTHLY_USD) })).toEqual({
      user: { requests: { perMinute: 10, perDay: 300 }, budgetNanoUsd: 1_000 },
      app: { requests: { perMinute: 1, perDay: 2 }, budgetNanoUsd: MAX_MONTHLY_USD * 1_000_000_000 },
    });
  });

  it.each([
    ['requests alone', scope(null, 5, null), { requests: { perMinute: null, perDay: 5 }, budgetNanoUsd: undefined }],
    ['a budget alone', scope(null, null, 2.5), { requests: undefined, budgetNanoUsd: 2_500_000_000 }],
    ['a budget of nothing', scope(null, null, 0), { requests: undefined, budgetNanoUsd: 0 }],
  ])('%s → the rest of the scope is undefined', (_name, limits, expected) => {
    expect(appLimits({ per_user: UNLIMITED, per_app: limits })).toEqual({ user: undefined, app: expected });
  });
});
