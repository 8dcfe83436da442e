import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import type { AppRow } from './app.entity.js';
import { AppEntity } from './app.entity.js';

/** Reads of the table `apps`. */
@Injectable()
export class AppDirectoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Of any account: callers authenticate to the application, not to an account. */
  async findOfAnyAccount(appId: string): Promise<AppRow | undefined> {
    return (await this.dataSource.manager.findOneBy(AppEntity, { id: appId })) ?? undefined;
  }

  async findOwn(organizationId: string, appId: string): Promise<AppRow | undefined> {
    return (await this.dataSource.manager.findOneBy(AppEntity, { organizationId, id: appId })) ?? undefined;
  }

  /** Those of the ids that the account has. */
  async findOwnIds(organizationId: string, appIds: readonly string[]): Promise<ReadonlySet<string>> {
    const where = { organizationId, id: In(appIds) };
    const rows = await this.dataSource.manager.find(AppEntity, { select: { id: true }, where });
    return new Set(rows.map(({ id }) => id));
  }
}
