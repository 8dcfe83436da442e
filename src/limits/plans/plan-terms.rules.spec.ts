import { describe, expect, it } from '@jest/globals';
import { epochMsOf } from '../../common/clock.js';
import type { GatewayError } from '../../common/errors/gateway-error.js';
import type { AccountTerms, LimitedResource, Plan, PlanBook } from './plan.js';
import { periodAt } from './plan-period.rules.js';
import {
  ceilingIn,
  ceilingReached,
  isInForce,
  quotaExceeded,
  requirePlan,
  termsOf,
  termsUnavailable,
} from './plan-terms.rules.js';

const NOW = epochMsOf('2026-11-20T12:00:00.500Z');
const LIMITS = { maxApps: 1, maxProviders: 2, maxProviderGateways: 3, maxActiveKeysPerApp: 4 };
const PLAN: Plan = { key: 'pro', name: 'Pro', description: '', features: [], limits: LIMITS };

function terms(members: Partial<AccountTerms> = {}): AccountTerms {
  return { plan: PLAN, isDefault: false, status: 'active', periodAnchorDay: 1, endsAtMs: null, ...members };
}

function thrown(call: () => unknown): GatewayError {
  try {
    call();
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('nothing was thrown');
}

describe('terms of an account', () => {
  it('an account that is not listed → the default for all others', () => {
    const own = terms();
    const forOthers = terms({ isDefault: true });
    const book: PlanBook = { plans: new Map(), forOthers, accounts: new Map([['a', own]]) };
    expect([termsOf(book, 'a'), termsOf(book, 'b')]).toEqual([own, forOthers]);
  });

  it.each<[string, Partial<AccountTerms>, string | undefined]>([
    ['active', {}, undefined],
    ['past due', { status: 'past_due' }, undefined],
    ['ends in a millisecond', { endsAtMs: NOW + 1 }, undefined],
    ['ends now', { endsAtMs: NOW }, 'plan_ended'],
    ['cancelled', { status: 'cancelled' }, 'plan_cancelled'],
    ['cancelled, with an end to come', { status: 'cancelled', endsAtMs: NOW + 1 }, 'plan_cancelled'],
    ['without a plan', { plan: null }, 'plan_missing'],
  ])('%s → in force, or 402', (_what, members, reason) => {
    const account = terms(members);
    expect(isInForce(account, NOW)).toBe(reason === undefined);
    if (reason === undefined) expect(requirePlan(account, NOW)).toBe(PLAN);
    else {
      const error = thrown(() => requirePlan(account, NOW));
      expect(error).toMatchObject({ code: 'billing_payment_required', status: 402, reason, data: undefined });
    }
  });
});

describe('refusals', () => {
  it('request quota → 429, exactly this data, Retry-After to the end of the period', () => {
    const period = periodAt(NOW, 15);
    const error = quotaExceeded({ period, used: 11 }, 10, NOW);
    expect(error).toMatchObject({ code: 'billing_request_quota_exceeded', status: 429 });
    expect(error.data).toEqual({
      periodId: '2026-11-15',
      periodStart: '2026-11-15T00:00:00.000Z',
      periodEnd: '2026-12-15T00:00:00.000Z',
      resetAt: '2026-12-15T00:00:00.000Z',
      limit: 10,
      used: 11,
    });
    expect(error.retryAfterSeconds).toBe(24 * 86_400 + 12 * 3_600);
    expect(quotaExceeded({ period, used: 11 }, 10, period.endMs - 1).retryAfterSeconds).toBe(1);
  });

  it.each<[LimitedResource, number]>([
    ['apps', 1],
    ['providers', 2],
    ['provider_gateways', 3],
    ['active_keys_per_app', 4],
  ])('%s → its own limit: 409 with limit and used', (resource, limit) => {
    expect(ceilingIn(PLAN, resource)).toBe(limit);
    expect(ceilingIn({ ...PLAN, limits: {} }, resource)).toBeUndefined();
    const error = ceilingReached(resource, limit, 7);
    expect(error).toMatchObject({ code: 'billing_plan_limit_reached', status: 409 });
    expect(error.data).toEqual({ limit, used: 7 });
  });

  it('unknown terms → 503 with Retry-After', () => {
    expect(termsUnavailable()).toMatchObject({ code: 'billing_unavailable', status: 503, retryAfterSeconds: 5 });
  });
});
