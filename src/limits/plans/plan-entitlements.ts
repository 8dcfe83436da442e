import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { type MaybePromise, whenResolved } from '../../common/maybe-promise.js';
import type { AccountRequests } from './account-requests.js';
import { Entitlements } from './entitlements.js';
import type { AccountStanding, AccountTerms, LimitedResource, Plan, PlanBook } from './plan.js';
import { ceilingIn, isInForce, quotaExceeded, requirePlan, termsOf, termsUnavailable } from './plan-terms.rules.js';
import type { PlansFile } from './plans-file.js';

/** Entitlements from the plans file. */
export class PlanEntitlements extends Entitlements implements OnApplicationShutdown {
  constructor(
    private readonly file: Pick<PlansFile, 'plans' | 'isStale' | 'close'>,
    private readonly requests: AccountRequests,
    private readonly clock: Clock,
  ) {
    super();
  }

  onApplicationShutdown(): void {
    this.file.close();
  }

  admitCall(organizationId: string): MaybePromise<void> {
    const terms = this.requireTerms(organizationId);
    const nowMs = this.clock.nowMs();
    const limit = requirePlan(terms, nowMs).limits.maxRequestsPerMonth;
    if (limit === undefined) return;
    return whenResolved(this.requests.of(organizationId, terms.periodAnchorDay), (count) => {
      if (!count.add(limit)) throw quotaExceeded(count, limit, nowMs);
    });
  }

  withdrawCall(organizationId: string): void {
    const plans = this.file.plans;
    const isCounted = plans && termsOf(plans, organizationId).plan?.limits.maxRequestsPerMonth !== undefined;
    if (isCounted) this.requests.withdraw(organizationId);
  }

  ceilingOf(organizationId: string, resource: LimitedResource): number | undefined {
    return ceilingIn(requirePlan(this.requireTerms(organizationId), this.clock.nowMs()), resource);
  }

  async standingOf(organizationId: string): Promise<AccountStanding> {
    const { plans, isStale } = this.file;
    if (plans === undefined) return { state: 'unavailable' };
    const terms = termsOf(plans, organizationId);
    const isAllowed = isInForce(terms, this.clock.nowMs());
    const use = isAllowed ? await this.requests.freshOf(organizationId, terms.periodAnchorDay) : null;
    return { state: 'billed', terms, use, isStale };
  }

  listPlans(): readonly Plan[] {
    return [...this.requirePlans().plans.values()];
  }

  private requireTerms(organizationId: string): AccountTerms {
    return termsOf(this.requirePlans(), organizationId);
  }

  private requirePlans(): PlanBook {
    if (this.file.plans === undefined) throw termsUnavailable();
    return this.file.plans;
  }
}
