import { ApiSchema } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, Optional, objectOf } from '../../common/fields/config-fields.js';
import { integer, listOf, memberPath, number, orNull, refined } from '../../common/fields/config-values.js';

/** How long a budget is for. */
export type ConfiguredWindow = 'day' | 'week' | 'month' | 'total';

const MICRO_USD_PER_USD = 1_000_000;
const NANO_USD_PER_USD = 1_000_000_000;
const NANO_USD_PER_MICRO_USD = 1_000;
/** The largest whole dollar amount that is exact in nano-dollars. */
export const MAX_MONTHLY_USD = Math.floor(Number.MAX_SAFE_INTEGER / NANO_USD_PER_USD);

const requestCount = orNull(integer({ min: 1 }));

/** Dollars with at most six decimals, because a finer amount would be rounded to another budget. */
const wholeMicrodollars = refined(number({ min: 0, max: MAX_MONTHLY_USD }), (usd, path) => {
  if (toMicroUsd(usd) / MICRO_USD_PER_USD !== usd) throw invalidRequest(path, 'must have at most six decimals');
  return usd;
});

const amount = orNull(wholeMicrodollars);

@ApiSchema({ name: 'AppRequestLimits' })
class RequestLimits {
  @Default(requestCount, null, { description: 'Null: unlimited.' })
  readonly per_minute: number | null;

  @Default(requestCount, null, { description: 'Per UTC day.' })
  readonly per_day: number | null;
}

const MAX_THRESHOLDS = 10;

/** Shares of a budget, each once, ascending. */
const thresholds = refined(listOf(number({ min: 0.01, max: 1 }), { max: MAX_THRESHOLDS }), (shares, path) => {
  for (const [at, share] of shares.entries()) {
    const before = shares[at - 1];
    if (before !== undefined && share <= before)
      throw invalidRequest(memberPath(path, String(at)), 'must be larger than the one before it');
  }
  return shares;
});

/** Whole numbers of microdollars. Each budget holds by itself. */
@ApiSchema({ name: 'AppSpendingLimits' })
export class SpendingLimits {
  @Default(amount, null, { description: 'US dollars per UTC month, at most six decimals; null: unlimited.' })
  readonly monthly_usd: number | null;

  @Optional(amount, { description: 'US dollars per UTC day; absent or null: unlimited.' })
  readonly daily_usd?: number | null;

  @Optional(amount, { description: 'US dollars per week, which begins on Monday, UTC; absent or null: unlimited.' })
  readonly weekly_usd?: number | null;

  @Optional(amount, { description: 'US dollars in all, not for users; absent or null: unlimited.' })
  readonly total_usd?: number | null;

  @Optional(thresholds, {
    description:
      'Shares of each budget, ascending, at which webhooks get `budget.threshold_reached`; absent: 0.5, 0.8 and 1.',
  })
  readonly thresholds?: readonly number[];
}

/** The limits of one scope; null is unlimited. */
@ApiSchema({ name: 'AppScopeLimits' })
export class ScopeLimits {
  @Default(objectOf(RequestLimits), { per_minute: null, per_day: null })
  readonly requests: RequestLimits;

  @Default(objectOf(SpendingLimits), { monthly_usd: null })
  readonly spending: SpendingLimits;
}

export const UNLIMITED: ScopeLimits = {
  requests: { per_minute: null, per_day: null },
  spending: { monthly_usd: null },
};

/**
 * Limits of each user and of the whole application; an absent limit is unlimited.
 *
 * Source: docs/reference/management-api.md#limits-configuration,
 * docs/reference/management-api.md#application-configuration.
 */
@ApiSchema({ name: 'AppLimits' })
export class Limits {
  @Default(objectOf(ScopeLimits), UNLIMITED, {
    description: 'Only where callers have a user identity.',
    check: requireNoTotal,
  })
  readonly per_user: ScopeLimits;

  @Default(objectOf(ScopeLimits), UNLIMITED)
  readonly per_app: ScopeLimits;
}

/** Whether the scope limits anything; a budget of zero dollars counts. */
export function isLimited({ requests, spending }: ScopeLimits): boolean {
  return requests.per_minute !== null || requests.per_day !== null || budgetsOf(spending).length > 0;
}

/** The configured budgets, those without an end first, then by the length of their window, the longest first. */
export function budgetsOf(
  spending: SpendingLimits,
): readonly { readonly window: ConfiguredWindow; readonly usd: number }[] {
  return WINDOWS.flatMap(({ window, member }) => {
    const usd = spending[member] ?? null;
    return usd === null ? [] : [{ window, usd }];
  });
}

const WINDOWS = [
  { window: 'total', member: 'total_usd' },
  { window: 'month', member: 'monthly_usd' },
  { window: 'week', member: 'weekly_usd' },
  { window: 'day', member: 'daily_usd' },
] as const;

function requireNoTotal({ spending }: ScopeLimits, _siblings: object, path: string): void {
  if (spending.total_usd === undefined || spending.total_usd === null) return;
  const at = memberPath(memberPath(path, 'spending'), 'total_usd');
  throw invalidRequest(at, 'is not for users: set daily_usd, weekly_usd or monthly_usd');
}

/** A configured amount in whole nano-dollars (1e-9 USD). */
export function toNanoUsd(usd: number): number {
  return toMicroUsd(usd) * NANO_USD_PER_MICRO_USD;
}

/** A configured amount in whole microdollars (1e-6 USD). */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}
