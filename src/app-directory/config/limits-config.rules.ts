import { invalidRequest } from '../../common/errors/gateway-error.js';
import { integer, number, openObject, orNull, type Read } from '../../common/fields/config-reader.js';
import type { Limits, ScopeLimits } from './app-config.js';

const MICRO_USD_PER_USD = 1_000_000;
const NANO_USD_PER_USD = 1_000_000_000;
/** The largest whole dollar amount that is exact in nano-dollars. */
export const MAX_MONTHLY_USD = Math.floor(Number.MAX_SAFE_INTEGER / NANO_USD_PER_USD);

export const UNLIMITED: ScopeLimits = {
  requests: { per_minute: null, per_day: null },
  spending: { monthly_usd: null },
};

/**
 * Reads `limits`; an absent limit is unlimited.
 *
 * Source: docs/reference/management-api.md#limits-configuration,
 * docs/reference/management-api.md#application-configuration.
 */
export const limitsConfig: Read<Limits> = (value, path) => {
  const reader = openObject(value, path, ['per_user', 'per_app']);
  return {
    per_user: reader.withDefault('per_user', scopeLimits, UNLIMITED),
    per_app: reader.withDefault('per_app', scopeLimits, UNLIMITED),
  };
};

/** Whether the scope limits anything; a budget of zero dollars counts. */
export function isLimited({ requests, spending }: ScopeLimits): boolean {
  return requests.per_minute !== null || requests.per_day !== null || spending.monthly_usd !== null;
}

/** A configured amount in whole microdollars (1e-6 USD). */
export function toMicroUsd(usd: number): number {
  return Math.round(usd * MICRO_USD_PER_USD);
}

const scopeLimits: Read<ScopeLimits> = (value, path) => {
  const reader = openObject(value, path, ['requests', 'spending']);
  return {
    requests: reader.withDefault('requests', requestLimits, UNLIMITED.requests),
    spending: reader.withDefault('spending', spendingLimits, UNLIMITED.spending),
  };
};

const requestCount = orNull(integer({ min: 1 }));

const requestLimits: Read<ScopeLimits['requests']> = (value, path) => {
  const reader = openObject(value, path, ['per_minute', 'per_day']);
  return {
    per_minute: reader.withDefault('per_minute', requestCount, null),
    per_day: reader.withDefault('per_day', requestCount, null),
  };
};

const spendingLimits: Read<ScopeLimits['spending']> = (value, path) => {
  const reader = openObject(value, path, ['monthly_usd']);
  return { monthly_usd: reader.withDefault('monthly_usd', orNull(wholeMicrodollars), null) };
};

/** Dollars with at most six decimals, because a finer amount would be rounded to another budget. */
const wholeMicrodollars: Read<number> = (value, path) => {
  const usd = number({ min: 0, max: MAX_MONTHLY_USD })(value, path);
  if (toMicroUsd(usd) / MICRO_USD_PER_USD !== usd) throw invalidRequest(path, 'must have at most six decimals');
  return usd;
};
