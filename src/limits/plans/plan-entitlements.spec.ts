import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/clock.js';
import { epochMsOf } from '../../common/clock.js';
import { AccountRequests } from './account-requests.js';
import { BillingStatusResponse } from './dto/billing.response.js';
import type { PlanBook } from './plan.js';
import { PlanEntitlements } from './plan-entitlements.js';
import { parsePlans } from './plans-file.rules.js';

const NOW = epochMsOf('2026-11-20T12:00:00Z');
const FILE = {
  default_plan: 'free',
  plans: {
    free: { name: 'Free', limits: { max_requests_per_month: 2 } },
    pro: { name: 'Pro', limits: { max_apps: 3 } },
  },
  accounts: {
    pro: { plan: 'pro', period_anchor_day: 20 },
    ending: { plan: 'pro', ends_at: '2026-11-25T00:00:00Z' },
    ended: { plan: 'pro', ends_at: '2026-11-20T12:00:00Z', status: 'past_due' },
    cancelled: { plan: 'pro', status: 'cancelled' },
    none: { plan: null },
  },
};

function allowing(file: { plans: PlanBook | undefined; isStale: boolean }) {
  const clock = new FakeClock(NOW);
  const requests = new AccountRequests({ countSince: async () => 1 }, clock);
  return { clock, entitlements: new PlanEntitlements({ ...file, close() {} }, requests, clock) };
}

const plans = parsePlans(Buffer.from(JSON.stringify(FILE)));
const status = async (organizationId: string, file = { plans, isStale: false }) =>
  BillingStatusResponse.from(organizationId, await allowing(file).entitlements.standingOf(organizationId));

describe('PlanEntitlements', () => {
  it('calls → counted with what is recorded, withdrawn ones not', async () => {
    const { entitlements } = allowing({ plans, isStale: false });
    await entitlements.admitCall('anybody');
    expect(() => entitlements.admitCall('anybody')).toThrow('used up');
    entitlements.withdrawCall('anybody');
    expect(entitlements.admitCall('anybody')).toBeUndefined();
    expect(() => entitlements.admitCall('anybody')).toThrow('used up');
  });

  it('a plan without a request limit → no query, no count', () => {
    const { entitlements } = allowing({ plans, isStale: false });
    for (let call = 0; call < 5; call++) expect(entitlements.admitCall('pro')).toBeUndefined();
    entitlements.withdrawCall('pro');
    expect([entitlements.ceilingOf('pro', 'apps'), entitlements.ceilingOf('pro', 'providers')]).toEqual([3, undefined]);
  });

  it('the end of a plan comes → 402 from that instant on', () => {
    const { entitlements, clock } = allowing({ plans, isStale: false });
    clock.advance(epochMsOf('2026-11-25T00:00:00Z') - NOW - 1);
    expect(entitlements.admitCall('ending')).toBeUndefined();
    clock.advance(1);
    expect(() => entitlements.admitCall('ending')).toThrow('has ended');
    expect(() => entitlements.ceilingOf('ending', 'apps')).toThrow('has ended');
  });

  it('no plans file has ever been read → every call is 503', () => {
    const { entitlements } = allowing({ plans: undefined, isStale: true });
    const unavailable = expect.objectContaining({ code: 'billing_unavailable' });
    expect(() => entitlements.admitCall('pro')).toThrow(unavailable);
    expect(() => entitlements.ceilingOf('pro', 'apps')).toThrow(unavailable);
    expect(() => entitlements.listPlans()).toThrow(unavailable);
    expect(() => entitlements.withdrawCall('pro')).not.toThrow();
  });
});

describe('billing status', () => {
  const period = {
    periodId: '2026-11-01',
    periodStart: '2026-11-01T00:00:00.000Z',
    periodEnd: '2026-12-01T00:00:00.000Z',
    resetAt: '2026-12-01T00:00:00.000Z',
  };

  it('plans cannot be read → unavailable', async () => {
    expect(await status('pro', { plans: undefined as never, isStale: true })).toEqual({
      access: { state: 'unavailable', billingErrorCode: 'billing_unavailable' },
      limits: {},
      quota: null,
    });
  });

  it('default plan → no subscription', async () => {
    const limits = { maxRequestsPerMonth: 2 };
    expect(await status('anybody')).toEqual({
      access: {
        state: 'billed',
        plan: { planKey: 'free', planName: 'Free', limits, isDefault: true },
        subscription: null,
      },
      limits,
      quota: { ...period, used: 1, limit: 2 },
    });
  });

  it('an account with its own plan → the subscription with its next period; no request limit → no requests in the quota', async () => {
    const { access, quota } = await status('pro');
    expect(access).toEqual({
      state: 'billed',
      plan: { planKey: 'pro', planName: 'Pro', limits: { maxApps: 3 }, isDefault: false },
      subscription: {
        subscriptionId: 'pro',
        status: 'active',
        planKey: 'pro',
        planName: 'Pro',
        billingPeriod: 'month',
        renewsAt: '2026-12-20T00:00:00.000Z',
        endsAt: null,
        trialEndsAt: null,
        source: 'plans_file',
        createdAt: null,
        updatedAt: null,
        billingAnchorDay: 20,
        billingAnchorAt: null,
        billingScheduleUpdatedAt: null,
      },
    });
    expect(quota).toMatchObject({ periodId: '2026-11-20', used: 1 });
    expect(quota).not.toHaveProperty('limit');
  });

  it('the newest file is invalid → stale', async () => {
    expect((await status('pro', { plans, isStale: true })).access).toMatchObject({ state: 'billed', stale: true });
  });

  it('an end within the period → no renewal', async () => {
    const { access } = await status('ending');
    const subscription = { status: 'active', renewsAt: null, endsAt: '2026-11-25T00:00:00.000Z' };
    expect(access).toMatchObject({ plan: { planKey: 'pro' }, subscription });
  });

  it.each([
    ['ended', { subscription: { status: 'expired', renewsAt: null } }],
    ['cancelled', { subscription: { status: 'cancelled', renewsAt: null } }],
    ['none', { subscription: null }],
  ])('%s → no plan, no limits, no quota, and the code that calls receive', async (organizationId, access) => {
    const answer = await status(organizationId);
    expect(answer).toMatchObject({ access: { state: 'billed', plan: null, ...access }, limits: {}, quota: null });
    expect(answer.access).toHaveProperty('billingErrorCode', 'billing_payment_required');
  });
});
