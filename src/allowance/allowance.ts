import type { Ready } from '../common/when-ready.js';

/** What a plan may limit the number of. */
export type LimitedResource = 'apps' | 'providers' | 'provider_gateways' | 'active_keys_per_app';

/**
 * Port to what an account may use of this service. The shipped implementation allows everything; `PLANS_FILE` puts plan
 * limits in its place; an extension may bind its own.
 *
 * Source: decision 4.9.
 */
export abstract class Allowance {
  /**
   * Lets a call to a provider through, and counts it.
   *
   * @throws billing_payment_required, billing_request_quota_exceeded, billing_unavailable.
   */
  abstract admitCall(organizationId: string): Ready<void>;

  /**
   * How many of a resource the account may have; undefined: as many as it likes.
   *
   * @throws billing_unavailable, billing_payment_required.
   */
  abstract ceilingOf(organizationId: string, resource: LimitedResource): number | undefined;
}

/** Allows everything. */
export class UnlimitedAllowance extends Allowance {
  admitCall(): void {}

  ceilingOf(): undefined {
    return undefined;
  }
}
