import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import { AppUsers, type UserCounts } from '../app-directory/app-users.js';
import { UserViewsRepository } from './user-views.repository.js';

/** Answers what the rooms of applications ask about users. */
@Injectable()
export class KnownUserCounts extends AppUsers {
  constructor(private readonly repository: UserViewsRepository) {
    super();
  }

  async countsByApp(organizationId: string, appIds: readonly string[]): Promise<ReadonlyMap<string, UserCounts>> {
    const rows = await this.repository.countByApp(organizationId, appIds);
    return new Map(rows.map(({ appId, total, blocked }) => [appId, { total, blocked }]));
  }

  countOf(tx: EntityManager, app: AppRef): Promise<number> {
    return this.repository.countStored(tx, app);
  }
}
