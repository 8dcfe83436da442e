import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { LimitedResource } from './plans/plan.js';

/** Locks for counting an account's resources. */
@Injectable()
export class CeilingsRepository {
  /** Takes the exclusive lock of this resource of this account until the transaction ends. */
  async lock(tx: EntityManager, organizationId: string, resource: LimitedResource): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`ceiling ${resource} ${organizationId}`]);
  }
}
