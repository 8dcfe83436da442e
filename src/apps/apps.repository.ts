import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AppRef, AppRow } from '../app-directory/app.entity.js';
import { AppEntity } from '../app-directory/app.entity.js';
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
    return this.dataSource.manager
      .createQueryBuilder(AppEntity, 'app')
      .where('app.organizationId = :organizationId AND app.id COLLATE "C" > :afterId', { organizationId, afterId })
      .orderBy('app.id COLLATE "C"')
      .limit(limit)
      .getMany();
  }

  /** The number of applications of an account, including disabled ones. */
  countOf(tx: EntityManager, organizationId: string): Promise<number> {
    return tx.countBy(AppEntity, { organizationId });
  }

  /** Stores revision 1; `undefined` when the id is taken in any account. */
  async insert(
    tx: EntityManager,
    app: AcceptedApp & { readonly id: string; readonly organizationId: string },
    at: Instant,
  ): Promise<AppRow | undefined> {
    const { id, organizationId, name, config, status } = app;
    const authenticationType = config.authentication.type;
    const row = { id, organizationId, name, config, authenticationType, status, revision: 1 };
    const inserting = tx.createQueryBuilder().insert().into(AppEntity).orIgnore();
    const inserted = await inserting
      .values({ ...row, createdAt: at, updatedAt: at })
      .returning('id')
      .execute();
    return inserted.raw.length > 0 ? tx.findOneByOrFail(AppEntity, { organizationId, id }) : undefined;
  }

  /** Replaces exactly the given revision; `undefined` when the stored revision differs. */
  async replaceIfRevision(
    tx: EntityManager,
    { id, organizationId, revision }: WriteTarget,
    { name, config, status }: AppReplacement,
    at: Instant,
  ): Promise<AppRow | undefined> {
    const where = { organizationId, id };
    const { affected } = await tx.update(
      AppEntity,
      { ...where, revision },
      {
        ...{ name, status, revision: revision + 1, updatedAt: at },
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
