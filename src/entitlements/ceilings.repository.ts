import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { LimitedResource } from './plans/plan.js';

/** Locks under which an account's resources are counted. */
@Injectable()
export class CeilingsRepository {
  /** Until the transaction ends, nobody else may hold the lock of this resource of this account. */
  async lock(tx: EntityManager, organizationId: string, resource: LimitedResource): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`ceiling ${resource} ${organizationId}`]);
  }
}
