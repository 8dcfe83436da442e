import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CeilingsRepository } from './ceilings.repository.js';
import { Entitlements } from './entitlements.js';
import type { LimitedResource } from './plan.js';
import { ceilingReached } from './plan-terms.rules.js';

/** Enforces the resource ceilings of account plans. */
@Injectable()
export class Ceilings {
  constructor(
    private readonly entitlements: Entitlements,
    private readonly repository: CeilingsRepository,
  ) {}

  /**
   * Lets a transaction add one resource. With a ceiling, concurrent additions wait until the transaction ends, so that
   * together they stay within it.
   *
   * @param count counts the existing resources within the transaction; called only with a ceiling.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable.
   * Source: docs/reference/accounting.md#account-plans.
   */
  async requireRoom(
    tx: EntityManager,
    organizationId: string,
    resource: LimitedResource,
    count: () => Promise<number>,
  ): Promise<void> {
    const limit = this.entitlements.ceilingOf(organizationId, resource);
    if (limit === undefined) return;
    await this.repository.lock(tx, organizationId, resource);
    const used = await count();
    if (used >= limit) throw ceilingReached(resource, limit, used);
  }
}
