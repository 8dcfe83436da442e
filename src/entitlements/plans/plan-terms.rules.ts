import { instantOf, wholeSecondsUntil } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { PeriodUse } from './account-standing.js';
import type { AccountTerms, LimitedResource, Plan, PlanBook, PlanLimits } from './plan.js';
import type { PlanPeriod } from './plan-period.rules.js';

/** When to come back while the terms cannot be read, in whole seconds. */
const TERMS_RETRY_SECONDS = 5;

/**
 * A period in answers; instants are ISO-8601, UTC.
 *
 * Source: docs/reference/application-api.md#limit-refusals, docs/reference/management-api.md#plan-routes.
 */
export interface PeriodWords {
  readonly periodId: string;
  readonly periodStart: string;
  /** The first instant after it, from which calls pass again. */
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

/** What was agreed with an account, or holds for all others. */
export function termsOf({ accounts, forOthers }: PlanBook, organizationId: string): AccountTerms {
  return accounts.get(organizationId) ?? forOthers;
}

/** How many of a resource a plan allows; undefined: as many as one likes. */
export function ceilingIn({ limits }: Plan, resource: LimitedResource): number | undefined {
  return limits[CEILINGS[resource].limit];
}

/** Whether the plan counts: a payment that is late changes nothing, a cancellation or the end of the terms does. */
export function isInForce({ plan, status, endsAtMs }: AccountTerms, nowMs: number): boolean {
  return plan !== null && status !== 'cancelled' && (endsAtMs === null || nowMs < endsAtMs);
}

/** The plan of an account. @throws billing_payment_required there is none that is in force. */
export function requirePlan(terms: AccountTerms, nowMs: number): Plan {
  if (terms.plan !== null && isInForce(terms, nowMs)) return terms.plan;
  if (terms.plan === null) throw new GatewayError('billing_payment_required', { reason: 'plan_missing' });
  const how = terms.status === 'cancelled' ? 'was cancelled' : 'has ended';
  throw new GatewayError('billing_payment_required', {
    message: `The plan “${terms.plan.name}” of the account ${how}.`,
    reason: terms.status === 'cancelled' ? 'plan_cancelled' : 'plan_ended',
  });
}

/** The refusal of an account whose terms nobody knows. */
export function termsUnavailable(): GatewayError {
  return new GatewayError('billing_unavailable', {
    retryAfterSeconds: TERMS_RETRY_SECONDS,
    reason: 'plans_file_unreadable',
  });
}

/** The refusal of a call beyond the plan's requests, with the instant from which calls pass again. */
export function quotaExceeded({ period, used }: PeriodUse, limit: number, nowMs: number): GatewayError {
  const data = { ...periodWords(period), limit, used };
  return new GatewayError('billing_request_quota_exceeded', {
    message: `The plan’s ${limit} requests of this period are used up; the next one begins at ${data.resetAt}.`,
    reason: 'request_quota_reached',
    data,
    retryAfterSeconds: wholeSecondsUntil(period.endMs, nowMs),
  });
}

/** The refusal of one more than the plan allows. */
export function ceilingReached(resource: LimitedResource, limit: number, used: number): GatewayError {
  const { words } = CEILINGS[resource];
  return new GatewayError('billing_plan_limit_reached', {
    message: `The plan allows ${limit} ${words}, and there are ${used}; remove one first, or choose another plan.`,
    reason: `plan_limit_${resource}`,
    data: { limit, used },
  });
}

/** A period as clients read it. */
export function periodWords({ startDay, startMs, endMs }: PlanPeriod): PeriodWords {
  const periodEnd = instantOf(endMs).toISOString();
  return { periodId: startDay, periodStart: instantOf(startMs).toISOString(), periodEnd, resetAt: periodEnd };
}
