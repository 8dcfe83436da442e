import type { MaybePromise } from '../../common/maybe-promise.js';
import type { AccountStanding, LimitedResource, Plan } from './plan.js';

/**
 * What an account may use of this service. The default implementation allows everything; `PLANS_FILE` selects the one
 * with plan limits.
 *
 * Source: docs/reference/accounting.md#account-plans.
 */
export abstract class Entitlements {
  /**
   * Admits a provider call and counts it.
   *
   * @returns synchronously when the account's count is cached; otherwise a promise.
   * @throws billing_payment_required, billing_request_quota_exceeded, billing_unavailable.
   */
  abstract admitCall(organizationId: string): MaybePromise<void>;

  /** Uncounts a call that {@link admitCall} counted and a later limit refused. Call it at most once per call. */
  abstract withdrawCall(organizationId: string): void;

  /**
   * Maximum number of a resource for the account; undefined: unlimited.
   *
   * @throws billing_unavailable, billing_payment_required.
   */
  abstract ceilingOf(organizationId: string, resource: LimitedResource): number | undefined;

  /** The account's plan and usage, for display; never refuses. */
  abstract standingOf(organizationId: string): MaybePromise<AccountStanding>;

  /** Lists the plans. @throws billing_unavailable. */
  abstract listPlans(): readonly Plan[];
}

/** Entitlements without limits. */
export class UnlimitedEntitlements extends Entitlements {
  admitCall(): void {}

  withdrawCall(): void {}

  ceilingOf(): undefined {
    return undefined;
  }

  standingOf(): AccountStanding {
    return { state: 'self_hosted' };
  }

  listPlans(): readonly Plan[] {
    return [];
  }
}
