import { instantOf, wholeSecondsUntil } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { AccountTerms, LimitedResource, PeriodUse, Plan, PlanBook, PlanLimits } from './plan.js';
import type { PlanPeriod } from './plan-period.rules.js';

/** `Retry-After` in seconds while the terms are unavailable. */
const TERMS_RETRY_SECONDS = 5;

/**
 * A period as the API returns it; times are ISO 8601, UTC.
 *
 * Source: docs/reference/application-api.md#limit-refusals, docs/reference/management-api.md#plan-routes.
 */
export interface PeriodWords {
  readonly periodId: string;
  readonly periodStart: string;
  /** Exclusive end of the period; calls pass again from then on. */
  readonly periodEnd: string;
  readonly resetAt: string;
}

interface Ceiling {
  readonly limit: Exclude<keyof PlanLimits, 'maxRequestsPerMonth'>;
  readonly words: string;
}

const CEILINGS: Readonly<Record<LimitedResource, Ceiling>> = {
  apps: { limit: 'maxApps', words: 'applications' },
  providers: { limit: 'maxProviders', words: 'providers' },
  provider_gateways: { limit: 'maxProviderGateways', words: 'provider gateways' },
  active_keys_per_app: { limit: 'maxActiveKeysPerApp', words: 'active keys for each application' },
};

/** The terms of an account, or the default terms. */
export function termsOf({ accounts, forOthers }: PlanBook, organizationId: string): AccountTerms {
  return accounts.get(organizationId) ?? forOthers;
}

/** Maximum number of a resource in a plan; undefined: unlimited. */
export function ceilingIn({ limits }: Plan, resource: LimitedResource): number | undefined {
  return limits[CEILINGS[resource].limit];
}

/** Whether the plan is in force: a cancellation or the end of the terms ends it, a late payment does not. */
export function isInForce({ plan, status, endsAtMs }: AccountTerms, nowMs: number): boolean {
  return plan !== null && status !== 'cancelled' && (endsAtMs === null || nowMs < endsAtMs);
}

/** The plan in force of an account. @throws billing_payment_required no plan is in force. */
export function requirePlan(terms: AccountTerms, nowMs: number): Plan {
  if (terms.plan !== null && isInForce(terms, nowMs)) return terms.plan;
  if (terms.plan === null) throw new GatewayError('billing_payment_required', { reason: 'plan_missing' });
  const how = terms.status === 'cancelled' ? 'was cancelled' : 'has ended';
  throw new GatewayError('billing_payment_required', {
    message: `The plan “${terms.plan.name}” of the account ${how}.`,
    reason: terms.status === 'cancelled' ? 'plan_cancelled' : 'plan_ended',
  });
}

/** Refusal of an account while the terms are unavailable. */
export function termsUnavailable(): GatewayError {
  return new GatewayError('billing_unavailable', {
    retryAfterSeconds: TERMS_RETRY_SECONDS,
    reason: 'plans_file_unreadable',
  });
}

/** Refusal of a call beyond the plan's requests; contains the time from which calls pass again. */
export function quotaExceeded({ period, used }: PeriodUse, limit: number, nowMs: number): GatewayError {
  const data = { ...periodWords(period), limit, used };
  return new GatewayError('billing_request_quota_exceeded', {
    message: `The plan’s ${limit} requests for this period are used up; the next period starts at ${data.resetAt}.`,
    reason: 'request_quota_reached',
    data,
    retryAfterSeconds: wholeSecondsUntil(period.endMs, nowMs),
  });
}

/** Refusal of a resource beyond the plan's ceiling. */
export function ceilingReached(resource: LimitedResource, limit: number, used: number): GatewayError {
  const { words } = CEILINGS[resource];
  return new GatewayError('billing_plan_limit_reached', {
    message: `The plan allows ${limit} ${words}, and ${used} exist; remove one first, or choose another plan.`,
    reason: `plan_limit_${resource}`,
    data: { limit, used },
  });
}

/** Converts a period to its API form. */
export function periodWords({ startDay, startMs, endMs }: PlanPeriod): PeriodWords {
  const periodEnd = instantOf(endMs).toISOString();
  return { periodId: startDay, periodStart: instantOf(startMs).toISOString(), periodEnd, resetAt: periodEnd };
}
