import type { Limits, ScopeLimits } from './config/app-config.js';
import { isLimited, toMicroUsd } from './config/limits-config.rules.js';

const NANO_USD_PER_MICRO_USD = 1_000;

/** How many requests one scope may make; null is without limit. */
interface RequestAllowance {
  /** In each minute of the clock. */
  readonly perMinute: number | null;
  /** On each UTC day. */
  readonly perDay: number | null;
}

/** The limits of one scope, as calls are held against them. */
export interface AppScopeLimits {
  /** Undefined where the number of requests is not limited. */
  readonly requests: RequestAllowance | undefined;
  /** Of one UTC month, in whole nano-dollars; 0 closes the door. Undefined without a budget. */
  readonly budgetNanoUsd: number | undefined;
}

/** What limits the calls of an application; an undefined scope is without limits. */
export interface AppLimits {
  /** Of each single user. */
  readonly user: AppScopeLimits | undefined;
  /** Of the whole application. */
  readonly app: AppScopeLimits | undefined;
}

/**
 * The configured limits, ready for the hot path.
 *
 * @returns undefined where nothing is limited: then a call is held against nothing.
 * Source: docs/reference/application-api.md#request-limits, docs/reference/accounting.md#money-and-time.
 */
export function appLimits({ per_user, per_app }: Limits): AppLimits | undefined {
  const [user, app] = [scopeLimits(per_user), scopeLimits(per_app)];
  return user === undefined && app === undefined ? undefined : Object.freeze({ user, app });
}

function scopeLimits(limits: ScopeLimits): AppScopeLimits | undefined {
  if (!isLimited(limits)) return undefined;
  const { per_minute: perMinute, per_day: perDay } = limits.requests;
  const { monthly_usd } = limits.spending;
  return Object.freeze({
    requests: perMinute === null && perDay === null ? undefined : Object.freeze({ perMinute, perDay }),
    budgetNanoUsd: monthly_usd === null ? undefined : toMicroUsd(monthly_usd) * NANO_USD_PER_MICRO_USD,
  });
}
