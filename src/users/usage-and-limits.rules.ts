import { isLimited, type ScopeLimits } from '../app-directory/config/limits-config.js';
import type { CurrentUsage } from '../usage/reports/user-usage.service.js';

/** A user's usage: as stored, and as counted by the limits, which is more current. */
export interface UsedByUser extends CurrentUsage {
  /** Requests of the current UTC day; 0 when they are not counted. */
  readonly countedToday: number;
}

/** A user's usage and limits. */
export interface UsageAndLimits {
  /** Null when no per-user limit is configured. */
  readonly requestsToday: number | null;
  /** Until the end of the UTC day; null without a daily limit. */
  readonly requestsRemaining: number | null;
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  /** Of the current UTC day; null without a daily limit of tokens. */
  readonly tokensToday: number | null;
  readonly tokensRemaining: number | null;
  /** US dollars. */
  readonly monthlyCostUsd: number;
  /** US dollars, in addition: the estimated cost of calls with unknown usage. */
  readonly estimatedCostUsd: number;
  /** US dollars; null without a budget. */
  readonly monthlyBudgetUsd: number | null;
  /** US dollars of the current UTC day, without estimates, and its budget; null without a budget. */
  readonly dailyCostUsd: number | null;
  readonly dailyBudgetUsd: number | null;
  /** The same of the week, from Monday. */
  readonly weeklyCostUsd: number | null;
  readonly weeklyBudgetUsd: number | null;
  readonly isBlocked: boolean;
}

/**
 * Compares a user's usage with the per-user limits. Limits of the whole application are not included.
 *
 * Source: docs/reference/application-api.md#current-user,
 * docs/reference/management-api.md#users.
 */
export function usageAndLimits(limits: ScopeLimits, used: UsedByUser, isBlocked: boolean): UsageAndLimits {
  const { per_minute: requestsPerMinute, per_day: requestsPerDay } = limits.requests;
  const { monthly_usd: monthlyBudgetUsd, daily_usd: daily, weekly_usd: weekly } = limits.spending;
  const [dailyBudgetUsd, weeklyBudgetUsd] = [daily ?? null, weekly ?? null];
  const { monthCostUsd: monthlyCostUsd, monthEstimatedCostUsd: estimatedCostUsd } = used;
  const tokensPerDay = limits.tokens?.per_day ?? null;
  const requestsToday = Math.max(used.requestsToday, used.countedToday);
  return {
    requestsToday: isLimited(limits) ? requestsToday : null,
    requestsRemaining: requestsPerDay === null ? null : Math.max(0, requestsPerDay - requestsToday),
    requestsPerMinute,
    requestsPerDay,
    tokensToday: tokensPerDay === null ? null : used.tokensToday,
    tokensRemaining: tokensPerDay === null ? null : Math.max(0, tokensPerDay - used.tokensToday),
    monthlyCostUsd,
    estimatedCostUsd,
    monthlyBudgetUsd,
    dailyCostUsd: dailyBudgetUsd === null ? null : used.dayCostUsd,
    dailyBudgetUsd,
    weeklyCostUsd: weeklyBudgetUsd === null ? null : used.weekCostUsd,
    weeklyBudgetUsd,
    isBlocked,
  };
}
