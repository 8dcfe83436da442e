import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import { type UserCounts, UserViewsRepository } from './user-views.repository.js';

/** User counts of applications. */
@Injectable()
export class AppUsers {
  constructor(private readonly repository: UserViewsRepository) {}

  /** User counts by application, including virtual users; an application that never had users is absent. */
  async countsByApp(organizationId: string, appIds: readonly string[]): Promise<ReadonlyMap<string, UserCounts>> {
    const rows = await this.repository.countByApp(organizationId, appIds);
    return new Map(rows.map(({ appId, total, blocked }) => [appId, { total, blocked }]));
  }

  /** The stored users of an application within a transaction: those that are deleted with it. */
  countOf(tx: EntityManager, app: AppRef): Promise<number> {
    return this.repository.countStored(tx, app);
  }
}
