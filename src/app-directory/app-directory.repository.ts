import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { APP_COLUMNS, type AppRow } from './app-row.js';

/** Reads of the table `apps`. */
@Injectable()
export class AppDirectoryRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Of any account: callers authenticate to the application, not to an account. */
  async findOfAnyAccount(appId: string): Promise<AppRow | undefined> {
    const rows: AppRow[] = await this.dataSource.query(`SELECT ${APP_COLUMNS} FROM apps app WHERE app.id = $1`, [
      appId,
    ]);
    return rows[0];
  }

  async findOwn(organizationId: string, appId: string): Promise<AppRow | undefined> {
    const rows: AppRow[] = await this.dataSource.query(
      `SELECT ${APP_COLUMNS} FROM apps app WHERE app.organization_id = $1 AND app.id = $2`,
      [organizationId, appId],
    );
    return rows[0];
  }
}
