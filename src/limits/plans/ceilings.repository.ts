import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { lockName } from '../../platform/database/advisory-lock.js';
import type { LimitedResource } from './plan.js';

/** Locks for counting an account's resources. */
@Injectable()
export class CeilingsRepository {
  /**
   * Takes the exclusive lock of this resource of this account until the transaction ends. @throws rate_limited as
   * `lockName`.
   */
  async lock(tx: EntityManager, organizationId: string, resource: LimitedResource): Promise<void> {
    await lockName(tx, `ceiling ${resource} ${organizationId}`);
  }
}
