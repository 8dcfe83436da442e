import type { ScopeLimits } from '../app-directory/config/app-config.js';
import type { CurrentUsage } from '../usage-reports/user-usage.service.js';

/** What a user has used: as it is stored, and as its limits have counted it, which is sooner. */
export interface UsedByUser extends CurrentUsage {
  /** Requests of the current UTC day; 0 where they are not counted. */
  readonly countedToday: number;
}

/** How a user stands against the limits of one user. */
export interface UserStanding {
  /** Null where nothing is limited, and so nothing is counted. */
  readonly requestsToday: number | null;
  /** Until the end of the UTC day; null without a daily limit. */
  readonly requestsRemaining: number | null;
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  /** US dollars. */
  readonly monthlyCostUsd: number;
  /** US dollars beside it that calls of unknown usage are taken to have cost. */
  readonly estimatedCostUsd: number;
  /** US dollars; null without a budget. */
  readonly monthlyBudgetUsd: number | null;
  readonly isBlocked: boolean;
}

/**
 * Holds what a user has used against the limits of one user. Limits of the whole application are not its business.
 *
 * Source: docs/reference/application-api.md#current-user.
 */
export function userStanding(limits: ScopeLimits, used: UsedByUser, isBlocked: boolean): UserStanding {
  const { per_minute: requestsPerMinute, per_day: requestsPerDay } = limits.requests;
  const { monthly_usd: monthlyBudgetUsd } = limits.spending;
  const { monthCostUsd: monthlyCostUsd, monthEstimatedCostUsd: estimatedCostUsd } = used;
  const requestsToday = Math.max(used.requestsToday, used.countedToday);
  const isLimited = requestsPerMinute !== null || requestsPerDay !== null || monthlyBudgetUsd !== null;
  return {
    requestsToday: isLimited ? requestsToday : null,
    requestsRemaining: requestsPerDay === null ? null : Math.max(0, requestsPerDay - requestsToday),
    requestsPerMinute,
    requestsPerDay,
    monthlyCostUsd,
    estimatedCostUsd,
    monthlyBudgetUsd,
    isBlocked,
  };
}
