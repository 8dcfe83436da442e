import type { ConfiguredWindow, Limits, ScopeLimits } from './config/limits-config.js';
import { budgetsOf, isLimited, toNanoUsd } from './config/limits-config.js';

/** The request limits of one scope; null is unlimited. */
interface RequestAllowance {
  /** Per calendar minute (UTC). */
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** Budget of one window. */
interface AppBudget {
  readonly window: ConfiguredWindow;
  /** Whole nano-dollars; 0 refuses every call. */
  readonly budgetNanoUsd: number;
}

/** The limits of one scope, in the form that enforcement uses. */
export interface AppScopeLimits {
  /** Undefined: requests are unlimited. */
  readonly requests: RequestAllowance | undefined;
  /** The longest window first: a call that exhausts several is refused for the one that ends last. */
  readonly budgets: readonly AppBudget[];
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
  return Object.freeze({
    requests: perMinute === null && perDay === null ? undefined : Object.freeze({ perMinute, perDay }),
    budgets: Object.freeze(
      budgetsOf(limits.spending).map(({ window, usd }) => Object.freeze({ window, budgetNanoUsd: toNanoUsd(usd) })),
    ),
  });
}
