import { describe, expect, it } from '@jest/globals';
import { usageAndLimits } from './usage-and-limits.rules.js';

const USED = {
  requestsToday: 12,
  countedToday: 0,
  dayCostUsd: 0.03,
  weekCostUsd: 0.2,
  monthCostUsd: 0.41,
  monthEstimatedCostUsd: 0.02,
  tokensToday: 700,
};

const limits = (per_minute: number | null, per_day: number | null, monthly_usd: number | null) => ({
  requests: { per_minute, per_day },
  spending: { monthly_usd },
});

describe('usage and limits of a user', () => {
  it('limits of every kind → the configured figures and what is left', () => {
    expect(usageAndLimits(limits(10, 300, 0.5), USED, false)).toEqual({
      requestsToday: 12,
      requestsRemaining: 288,
      requestsPerMinute: 10,
      requestsPerDay: 300,
      tokensToday: null,
      tokensRemaining: null,
      monthlyCostUsd: 0.41,
      estimatedCostUsd: 0.02,
      monthlyBudgetUsd: 0.5,
      dailyCostUsd: null,
      dailyBudgetUsd: null,
      weeklyCostUsd: null,
      weeklyBudgetUsd: null,
      isBlocked: false,
    });
  });

  it('no limit of any kind → nothing is counted, but the cost is returned', () => {
    expect(usageAndLimits(limits(null, null, null), USED, true)).toEqual({
      requestsToday: null,
      requestsRemaining: null,
      requestsPerMinute: null,
      requestsPerDay: null,
      tokensToday: null,
      tokensRemaining: null,
      monthlyCostUsd: 0.41,
      estimatedCostUsd: 0.02,
      monthlyBudgetUsd: null,
      dailyCostUsd: null,
      dailyBudgetUsd: null,
      weeklyCostUsd: null,
      weeklyBudgetUsd: null,
      isBlocked: true,
    });
  });

  it('budgets by day and week → the amount spent in each, null without a budget', () => {
    const spending = { monthly_usd: null, daily_usd: 1, weekly_usd: null };
    expect(usageAndLimits({ ...limits(null, null, null), spending }, USED, false)).toMatchObject({
      ...{ dailyCostUsd: 0.03, dailyBudgetUsd: 1, weeklyCostUsd: null, weeklyBudgetUsd: null },
    });
    const weekly = { monthly_usd: null, weekly_usd: 0 };
    expect(usageAndLimits({ ...limits(null, null, null), spending: weekly }, USED, false)).toMatchObject({
      ...{ dailyCostUsd: null, dailyBudgetUsd: null, weeklyCostUsd: 0.2, weeklyBudgetUsd: 0 },
    });
  });

  it.each([
    ['a limit per minute alone', limits(10, null, null)],
    ['a budget alone, even an empty one', limits(null, null, 0)],
  ])('%s → today is counted, no remainder is returned', (_name, one) => {
    expect(usageAndLimits(one, USED, false)).toMatchObject({ requestsToday: 12, requestsRemaining: null });
  });

  it.each([
    [12, 0],
    [11, 0],
    [13, 1],
  ])('a daily limit of %i and 12 requests → %i remain, never less than zero', (perDay, remaining) => {
    expect(usageAndLimits(limits(null, perDay, null), USED, false).requestsRemaining).toBe(remaining);
  });

  it.each([
    [15, 15],
    [12, 12],
    [3, 12],
  ])('12 requests stored and %i counted → %i: the larger one, as either may be ahead', (countedToday, today) => {
    const { requestsToday, requestsRemaining } = usageAndLimits(
      limits(null, 20, null),
      { ...USED, countedToday },
      false,
    );
    expect([requestsToday, requestsRemaining]).toEqual([today, 20 - today]);
  });

  it.each([
    [1_000, 700, 300],
    [600, 700, 0],
    [null, null, null],
  ])('a daily limit of %s tokens → the count and the remainder', (per_day, tokensToday, tokensRemaining) => {
    const ofTokens = { ...limits(null, null, null), tokens: { per_day } };
    expect(usageAndLimits(ofTokens, USED, false)).toMatchObject({ tokensToday, tokensRemaining });
  });
});
