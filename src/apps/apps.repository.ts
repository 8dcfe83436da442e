import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { APP_COLUMNS, type AppRef, type AppRow } from '../app-directory/app-row.js';
import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { Instant } from '../common/clock.js';

/** The stored part of an accepted write. */
export interface AcceptedApp {
  readonly name: string;
  readonly config: AppConfig;
  readonly status: AppStatus;
}

/** A replacement; without a configuration the stored one stays unchanged. */
export interface AppReplacement extends Pick<AcceptedApp, 'name' | 'status'> {
  readonly config: AppConfig | undefined;
}

/** A page of an account's applications; all of them when empty. */
export interface AppPage {
  readonly limit?: number;
  /** Exclusive lower bound of the id. */
  readonly afterId?: string;
}

/** The application of a write, at the revision that the client read. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number;
}

/** Writes of the table `apps`, and the list of an account's applications. */
@Injectable()
export class AppsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Ordered by id. */
  listOf(organizationId: string, { limit, afterId = '' }: AppPage): Promise<AppRow[]> {
    return this.dataSource.query(
      `SELECT ${APP_COLUMNS} FROM apps app WHERE app.organization_id = $1 AND app.id COLLATE "C" > $2
       ORDER BY app.id COLLATE "C" LIMIT $3`,
      [organizationId, afterId, limit ?? null],
    );
  }

  /** The number of applications of an account, including disabled ones. */
  async countOf(tx: EntityManager, organizationId: string): Promise<number> {
    const sql = 'SELECT count(*)::integer AS apps FROM apps WHERE organization_id = $1';
    const [row] = await tx.query<{ apps: number }[]>(sql, [organizationId]);
    return row?.apps ?? 0;
  }

  /** Stores revision 1; `undefined` when the id is taken in any account. */
  async insert(
    tx: EntityManager,
    {
      id,
      organizationId,
      name,
      config,
      status,
    }: AcceptedApp & { readonly id: string; readonly organizationId: string },
    at: Instant,
  ): Promise<AppRow | undefined> {
    const rows: AppRow[] = await tx.query(
      `INSERT INTO apps AS app
         (id, organization_id, name, config, authentication_type, revision, status, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, 1, $6, $7, $7)
       ON CONFLICT (id) DO NOTHING RETURNING ${APP_COLUMNS}`,
      [id, organizationId, name, JSON.stringify(config), config.authentication.type, status, at],
    );
    return rows[0];
  }

  /** Replaces exactly the given revision; `undefined` when the stored revision differs. */
  async replaceIfRevision(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { name, config, status }: AppReplacement,
    at: Instant,
  ): Promise<AppRow | undefined> {
    const text = config && JSON.stringify(config);
    const [rows]: [AppRow[], number] = await tx.query(
      `UPDATE apps AS app
          SET name = $4, config = coalesce($5, config), authentication_type = coalesce($6, authentication_type),
              status = $7, revision = app.revision + 1, updated_at = $8
        WHERE app.organization_id = $1 AND app.id = $2 AND app.revision = $3
        RETURNING ${APP_COLUMNS}`,
      [organizationId, id, revision, name, text, config?.authentication.type, status, at],
    );
    return rows[0];
  }

  /** Locks the row: no dependent rows are added until the transaction ends. @returns whether it exists. */
  async lock(tx: EntityManager, app: AppRef): Promise<boolean> {
    const rows: unknown[] = await tx.query('SELECT FROM apps WHERE organization_id = $1 AND id = $2 FOR UPDATE', [
      app.organizationId,
      app.id,
    ]);
    return rows.length > 0;
  }

  /** Deletes the application with its keys and users; usage records stay. */
  async delete(tx: EntityManager, app: AppRef): Promise<void> {
    await tx.query('DELETE FROM apps WHERE organization_id = $1 AND id = $2', [app.organizationId, app.id]);
  }
}
