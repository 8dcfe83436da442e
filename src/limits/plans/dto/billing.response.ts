import { instantOf } from '../../../common/clock.js';
import type { ErrorCode } from '../../../common/errors/error-catalogue.js';
import type { AccountStanding, Plan, PlanLimits, SubscriptionStatus } from '../plan.js';
import { type PeriodWords, periodWords } from '../plan-terms.rules.js';

interface OfferedPlan {
  readonly planKey: string;
  readonly name: string;
  readonly description: string;
  readonly features: readonly string[];
  readonly limits: PlanLimits;
  readonly trialDays: number;
  readonly prices: readonly never[];
}

/**
 * The plans in the plans file, which contains no prices. Not in the published OpenAPI document.
 *
 * Source: docs/reference/management-api.md#plan-routes.
 */
export class BillingPlansResponse {
  plans: readonly OfferedPlan[];

  static from(plans: readonly Plan[]): BillingPlansResponse {
    const offered = plans.map(({ key, name, description, features, limits }) => {
      return { planKey: key, name, description, features, limits, trialDays: 0, prices: [] };
    });
    return Object.assign(new BillingPlansResponse(), { plans: offered });
  }
}

type BilledStanding = Extract<AccountStanding, { state: 'billed' }>;

interface SubscriptionResponse {
  readonly subscriptionId: string;
  readonly status: SubscriptionStatus | 'expired';
  readonly planKey: string;
  readonly planName: string;
  readonly billingPeriod: 'month';
  readonly renewsAt: string | null;
  readonly endsAt: string | null;
  readonly trialEndsAt: null;
  readonly source: 'plans_file';
  readonly createdAt: null;
  readonly updatedAt: null;
  readonly billingAnchorDay: number;
  readonly billingAnchorAt: null;
  readonly billingScheduleUpdatedAt: null;
}

interface AccessPlanResponse {
  readonly planKey: string;
  readonly planName: string;
  readonly limits: PlanLimits;
  readonly isDefault: boolean;
}

type AccessResponse =
  | { readonly state: 'self_hosted' }
  | { readonly state: 'unavailable'; readonly billingErrorCode: ErrorCode }
  | {
      readonly state: 'billed';
      readonly plan: AccessPlanResponse | null;
      readonly subscription: SubscriptionResponse | null;
      readonly stale?: true;
      readonly billingErrorCode?: ErrorCode;
    };

interface QuotaResponse extends PeriodWords {
  readonly used: number;
  readonly limit?: number;
}

/**
 * The limits and usage of an account. Of a subscription's dates the plans file contains only the end; the renewal is
 * derived from the period, and the others are null. Not in the published OpenAPI document.
 *
 * Source: docs/reference/management-api.md#plan-routes.
 */
export class BillingStatusResponse {
  access: AccessResponse;
  limits: PlanLimits;
  quota: QuotaResponse | null;

  static from(organizationId: string, standing: AccountStanding): BillingStatusResponse {
    return Object.assign(new BillingStatusResponse(), {
      access: accessOf(organizationId, standing),
      limits: limitsOf(standing),
      quota: quotaOf(standing),
    });
  }
}

function accessOf(organizationId: string, standing: AccountStanding): AccessResponse {
  if (standing.state === 'self_hosted') return { state: 'self_hosted' };
  if (standing.state === 'unavailable') return { state: 'unavailable', billingErrorCode: 'billing_unavailable' };
  return {
    state: 'billed',
    plan: planOf(standing),
    subscription: subscriptionOf(organizationId, standing),
    ...(standing.isStale ? { stale: true } : {}),
    ...(standing.use === null ? { billingErrorCode: 'billing_payment_required' } : {}),
  };
}

function planOf({ terms: { plan, isDefault }, use }: BilledStanding): AccessPlanResponse | null {
  if (plan === null || use === null) return null;
  return { planKey: plan.key, planName: plan.name, limits: plan.limits, isDefault };
}

function subscriptionOf(organizationId: string, { terms, use }: BilledStanding): SubscriptionResponse | null {
  const { plan, isDefault, status, endsAtMs, periodAnchorDay } = terms;
  if (plan === null || isDefault) return null;
  const isRenewed = use !== null && (endsAtMs === null || endsAtMs > use.period.endMs);
  return {
    subscriptionId: organizationId,
    status: use === null && status !== 'cancelled' ? 'expired' : status,
    planKey: plan.key,
    planName: plan.name,
    billingPeriod: 'month',
    renewsAt: isRenewed ? instantOf(use.period.endMs).toISOString() : null,
    endsAt: endsAtMs === null ? null : instantOf(endsAtMs).toISOString(),
    trialEndsAt: null,
    source: 'plans_file',
    createdAt: null,
    updatedAt: null,
    billingAnchorDay: periodAnchorDay,
    billingAnchorAt: null,
    billingScheduleUpdatedAt: null,
  };
}

function limitsOf(standing: AccountStanding): PlanLimits {
  return standing.state === 'billed' && standing.use !== null ? (standing.terms.plan?.limits ?? {}) : {};
}

function quotaOf(standing: AccountStanding): QuotaResponse | null {
  if (standing.state !== 'billed' || standing.use === null) return null;
  const { period, used } = standing.use;
  const limit = standing.terms.plan?.limits.maxRequestsPerMonth;
  return { ...periodWords(period), used, ...(limit === undefined ? {} : { limit }) };
}
