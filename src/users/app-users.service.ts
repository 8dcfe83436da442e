import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import type { UserCounts } from './user-counts.js';
import { UserViewsRepository } from './user-views.repository.js';

/** How many users applications have. */
@Injectable()
export class AppUsers {
  constructor(private readonly repository: UserViewsRepository) {}

  /** Users of the applications named, those known from usage only included; one that never had any is absent. */
  async countsByApp(organizationId: string, appIds: readonly string[]): Promise<ReadonlyMap<string, UserCounts>> {
    const rows = await this.repository.countByApp(organizationId, appIds);
    return new Map(rows.map(({ appId, total, blocked }) => [appId, { total, blocked }]));
  }

  /** Users stored for an application, as a transaction sees them: those that are deleted with it. */
  countOf(tx: EntityManager, app: AppRef): Promise<number> {
    return this.repository.countStored(tx, app);
  }
}
