import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CeilingsRepository } from './ceilings.repository.js';
import { Entitlements } from './entitlements.js';
import type { LimitedResource } from './plans/plan.js';
import { ceilingReached } from './plans/plan-terms.rules.js';

/** Keeps accounts within what their plan allows them to have. */
@Injectable()
export class Ceilings {
  constructor(
    private readonly entitlements: Entitlements,
    private readonly repository: CeilingsRepository,
  ) {}

  /**
   * Lets a transaction add one of a resource. Where that is limited, others who want to add one wait until the
   * transaction ends, so that all of them together stay within the limit.
   *
   * @param count how many there are, within the transaction; asked only where there is a limit.
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
