import { Injectable } from '@nestjs/common';
import { Any, DataSource, type EntityManager } from 'typeorm';
import type { AppRef, AppRow } from '../app-directory/app.entity.js';
import { AppEntity } from '../app-directory/app.entity.js';
import type { AppConfig, AppStatus } from '../app-directory/config/app-config.js';
import type { Instant } from '../common/clock.js';

/** The stored part of an accepted write. */
export interface AcceptedApp {
  readonly name: string;
  readonly handle: string | null;
  readonly config: AppConfig;
  readonly status: AppStatus;
}

/** A replacement; without a configuration the stored one stays unchanged. */
export interface AppReplacement extends Pick<AcceptedApp, 'name' | 'handle' | 'status'> {
  readonly config: AppConfig | undefined;
}

export const APP_ORDERS = ['id', 'name', 'users', 'requests', 'errors', 'cost'] as const;

/** What a list of applications is ordered by; `errors` counts failures of providers and refusals. */
export type AppOrder = (typeof APP_ORDERS)[number];

/** A page of the applications of an account. */
export interface AppSearch {
  /** UTC month of the usage to order by, `YYYY-MM`. */
  readonly month: string;
  /** Text in the name, the handle, the id or the bundle id, of any case. */
  readonly query?: string;
  readonly status?: AppStatus;
  readonly sort: AppOrder;
  readonly isDescending: boolean;
  readonly offset: number;
  /** When absent, all that follow. */
  readonly limit?: number;
  /** Exclusive lower bound of the id, for lists in ascending order of it. */
  readonly afterId?: string;
}

/** The application of a write, at the revision that the client read. */
interface WriteTarget {
  readonly id: string;
  readonly organizationId: string;
  readonly revision: number;
}

const BUNDLE_ID = `coalesce(app.config #>> '{authentication,app_attest,bundle_id}',
  app.config #>> '{authentication,proofs,app_attest,bundle_id}')`;

/** Usage of the month `$2` by application; orders without usage have that parameter too. */
const used = (measure: string) => `LEFT JOIN (
  SELECT app_id, sum(${measure}) AS used FROM usage_app_months
  WHERE organization_id = $1 AND month = to_date($2, 'YYYY-MM') GROUP BY app_id) sums ON sums.app_id = found.id`;

const USERS = `LEFT JOIN (
  SELECT app_id, sum(total) AS users FROM app_user_counts WHERE organization_id = $1 GROUP BY app_id) counted
  ON counted.app_id = found.id`;

/** What each order compares, and the sums of other rooms that it needs. */
const ORDERS: Readonly<Record<AppOrder, { readonly by: string; readonly of?: string }>> = {
  id: { by: 'found.id COLLATE "C"' },
  name: { by: 'lower(found.name)' },
  users: { by: 'coalesce(counted.users, 0)', of: USERS },
  requests: { by: 'coalesce(sums.used, 0)', of: used('requests') },
  errors: { by: 'coalesce(sums.used, 0)', of: used('errors + blocked') },
  cost: { by: 'coalesce(sums.used, 0)', of: used('cost_nano_usd') },
};

/** Writes of the table `apps`, and the list of an account's applications. Reads `play_credentials`. */
@Injectable()
export class AppsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Kinds of the Play Integrity credentials that are stored for an application. */
  async playCredentialsOf({ organizationId, id }: AppRef): Promise<string[]> {
    const rows: { kind: string }[] = await this.dataSource.query(
      'SELECT kind FROM play_credentials WHERE organization_id = $1 AND app_id = $2',
      [organizationId, id],
    );
    return rows.map(({ kind }) => kind);
  }

  /** The ids of a page in its order, and the number of applications on all pages. Equal ones are by id. */
  async search(organizationId: string, filter: AppSearch): Promise<{ readonly ids: string[]; readonly total: number }> {
    const { month, query, status, sort, isDescending, offset, limit, afterId } = filter;
    const { by, of = '' } = ORDERS[sort];
    const [row] = await this.dataSource.query<{ ids: string[]; total: number }[]>(
      `WITH found AS (SELECT app.id, app.name FROM apps app
         WHERE app.organization_id = $1 AND ($3::text IS NULL OR app.status = $3)
           AND ($4::text IS NULL OR strpos(lower(concat_ws(E'\n', app.name, app.handle, app.id, ${BUNDLE_ID})), lower($4)) > 0))
       SELECT (SELECT count(*)::integer FROM found) AS total,
         ARRAY(SELECT found.id FROM found ${of} WHERE $2::text IS NOT NULL AND ($7::text IS NULL OR found.id COLLATE "C" > $7)
           ORDER BY ${by} ${isDescending ? 'DESC' : 'ASC'}, found.id COLLATE "C" OFFSET $5 LIMIT $6) AS ids`,
      [organizationId, month, status ?? null, query ?? null, offset, limit ?? null, afterId ?? null],
    );
    return row ?? { ids: [], total: 0 };
  }

  /** By id; without those that do not exist. */
  async findAll(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, AppRow>> {
    const rows = await this.dataSource.manager.findBy(AppEntity, { organizationId, id: Any([...ids]) });
    return new Map(rows.map((app) => [app.id, app]));
  }

  /** The settings that decide what the applications of an account reach, by name. */
  all(organizationId: string): Promise<Pick<AppRow, 'id' | 'name' | 'config'>[]> {
    return this.dataSource.manager.find(AppEntity, {
      select: { id: true, name: true, config: true },
      where: { organizationId },
      order: { name: 'ASC', id: 'ASC' },
    });
  }

  /** The number of applications of an account, including disabled ones. */
  countOf(tx: EntityManager, organizationId: string): Promise<number> {
    return tx.countBy(AppEntity, { organizationId });
  }

  /** Whether an application of the account has this handle. */
  hasHandle(tx: EntityManager | undefined, organizationId: string, handle: string): Promise<boolean> {
    return (tx ?? this.dataSource.manager).existsBy(AppEntity, { organizationId, handle });
  }

  /** Stores revision 1; `undefined` when the id is taken in any account, or the handle in this one. */
  async insert(
    tx: EntityManager,
    app: AcceptedApp & { readonly id: string; readonly organizationId: string },
    at: Instant,
  ): Promise<AppRow | undefined> {
    const { id, organizationId, name, handle, config, status } = app;
    const authenticationType = config.authentication.type;
    const row = { id, organizationId, name, handle, config, authenticationType, status, revision: 1 };
    const inserting = tx.createQueryBuilder().insert().into(AppEntity).orIgnore();
    const inserted = await inserting
      .values({ ...row, createdAt: at, updatedAt: at })
      .returning('id')
      .execute();
    return inserted.raw.length > 0 ? tx.findOneByOrFail(AppEntity, { organizationId, id }) : undefined;
  }

  /** Replaces exactly the given revision; `undefined` when it differs. A taken handle violates `apps_handle_key`. */
  async replaceIfRevision(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { name, handle, config, status }: AppReplacement,
    at: Instant,
  ): Promise<AppRow | undefined> {
    const where = { organizationId, id };
    const { affected } = await tx.update(
      AppEntity,
      { ...where, revision },
      {
        ...{ name, handle, status, revision: revision + 1, updatedAt: at },
        ...(config && { config, authenticationType: config.authentication.type }),
      },
    );
    return affected === 1 ? tx.findOneByOrFail(AppEntity, where) : undefined;
  }

  /** Locks the row: no dependent rows are added until the transaction ends. @returns whether it exists. */
  async lock(tx: EntityManager, { organizationId, id }: AppRef): Promise<boolean> {
    const lock = { mode: 'pessimistic_write' } as const;
    return (await tx.findOne(AppEntity, { select: { id: true }, where: { organizationId, id }, lock })) !== null;
  }

  /** Deletes the application with its keys and users; usage records stay. */
  async delete(tx: EntityManager, { organizationId, id }: AppRef): Promise<void> {
    await tx.delete(AppEntity, { organizationId, id });
  }
}
