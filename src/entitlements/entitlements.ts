import type { Ready } from '../common/when-ready.js';
import type { AccountStanding } from './plans/account-standing.js';
import type { LimitedResource, Plan } from './plans/plan.js';

/**
 * Port to what an account may use of this service. The shipped implementation allows everything; `PLANS_FILE` puts plan
 * limits in its place.
 *
 * Source: docs/reference/accounting.md#account-plans.
 */
export abstract class Entitlements {
  /**
   * Lets a call to a provider through, and counts it.
   *
   * @returns at once when the account's count is at hand; the promise of it otherwise.
   * @throws billing_payment_required, billing_request_quota_exceeded, billing_unavailable.
   */
  abstract admitCall(organizationId: string): Ready<void>;

  /** A call that {@link admitCall} counted was refused by a later limit after all: it does not count. Once a call. */
  abstract withdrawCall(organizationId: string): void;

  /**
   * How many of a resource the account may have; undefined: as many as it likes.
   *
   * @throws billing_unavailable, billing_payment_required.
   */
  abstract ceilingOf(organizationId: string, resource: LimitedResource): number | undefined;

  /** For people who look; never refuses. */
  abstract standingOf(organizationId: string): Ready<AccountStanding>;

  /** The plans there are. @throws billing_unavailable. */
  abstract listPlans(): readonly Plan[];
}

/** Allows everything. */
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
