import { ApiSchema } from '@nestjs/swagger';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { Default, objectOf } from '../../common/fields/config-fields.js';
import { integer, number, orNull, refined } from '../../common/fields/config-values.js';

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

@ApiSchema({ name: 'AppRequestLimits' })
class RequestLimits {
  @Default(requestCount, null, { description: 'Null: unlimited.' })
  readonly per_minute: number | null;

  @Default(requestCount, null, { description: 'Per UTC day.' })
  readonly per_day: number | null;
}

@ApiSchema({ name: 'AppSpendingLimits' })
class SpendingLimits {
  /** A whole number of microdollars. */
  @Default(orNull(wholeMicrodollars), null, {
    description: 'US dollars per UTC month, at most six decimals; null: unlimited.',
  })
  readonly monthly_usd: number | null;
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
  @Default(objectOf(ScopeLimits), UNLIMITED, { description: 'Only where callers have a user identity.' })
  readonly per_user: ScopeLimits;

  @Default(objectOf(ScopeLimits), UNLIMITED)
  readonly per_app: ScopeLimits;
}

/** Whether the scope limits anything; a budget of zero dollars counts. */
export function isLimited({ requests, spending }: ScopeLimits): boolean {
  return requests.per_minute !== null || requests.per_day !== null || spending.monthly_usd !== null;
}

/** A configured amount in whole nano-dollars (1e-9 USD). */
export function toNanoUsd(usd: number): number {
  return toMicroUsd(usd) * NANO_USD_PER_MICRO_USD;
}

/** A configured amount in whole microdollars (1e-6 USD). */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}
