import type { Limits, ScopeLimits } from './config/limits-config.js';
import { isLimited, toNanoUsd } from './config/limits-config.js';

/** The request limits of one scope; null is unlimited. */
interface RequestAllowance {
  /** Per calendar minute (UTC). */
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** The limits of one scope, in the form that enforcement uses. */
export interface AppScopeLimits {
  /** Undefined: requests are unlimited. */
  readonly requests: RequestAllowance | undefined;
  /** Per UTC month, in whole nano-dollars; 0 refuses every call. Undefined: no budget. */
  readonly budgetNanoUsd: number | undefined;
}

/** The limits of an application; an undefined scope is unlimited. */
export interface AppLimits {
  /** Per user. */
  readonly user: AppScopeLimits | undefined;
  /** For the whole application. */
  readonly app: AppScopeLimits | undefined;
}

/**
 * The configured limits, precomputed for the hot path.
 *
 * @returns undefined when nothing is limited.
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
    budgetNanoUsd: monthly_usd === null ? undefined : toNanoUsd(monthly_usd),
  });
}
