import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app.entity.js';
import type { UserFilter, UserRow, UserStatus } from './app-user.entity.js';
import { AppUserEntity } from './app-user.entity.js';

/** Numbers of known and of blocked users of an application. */
export interface UserCounts {
  readonly total: number;
  readonly blocked: number;
}

/** The counts of an application that never had users. */
export const NO_USERS: UserCounts = { total: 0, blocked: 0 };

/** The user counts of one application. */
export interface AppUserCounts extends UserCounts {
  readonly appId: string;
}

const COLUMNS = `known.id, known.status, known.created_at AS "createdAt", known.last_seen_at AS "lastSeenAt",
  known.is_virtual AND known.status = 'active' AS "isVirtual",
  attested.key_id AS "attestKeyId", attested.counter AS "attestCounter"`;

/** The attestation key that the user `known` of the application `$2` used last. */
const WITH_KEY = `LEFT JOIN LATERAL (
  SELECT device.key_id, device.counter FROM device_keys device
  WHERE device.organization_id = $1 AND device.app_id = $2 AND device.user_id = known.id
  ORDER BY device.last_used_at DESC LIMIT 1) attested ON true`;

/** Users of the application `$2`, optionally with the status `$3` and the text `$4` in their id. */
const MATCHING = `FROM app_users known WHERE known.organization_id = $1 AND known.app_id = $2
  AND ($3::text IS NULL OR known.status = $3) AND ($4::text IS NULL OR strpos(known.id, $4) > 0)`;

const RECENT_FIRST = 'ORDER BY known.recent_at DESC, known.id';

/** The counts of an application span several rows (migration keep-user-counts); none: it never had users. */
const KEPT_TOTAL = 'coalesce(sum(kept.total), 0)::bigint';
const KEPT_OF_APP = 'FROM app_user_counts kept WHERE kept.organization_id = $1 AND kept.app_id = $2';

const PAGE = `SELECT known.id ${MATCHING} ${RECENT_FIRST} LIMIT $5 OFFSET $6`;

/**
 * The same page of all users, read from the end of the list: the offset is the number of users after the page. The
 * count is read in the same statement, so both directions yield the same page. The outer limit gives the planner a row
 * estimate.
 */
const PAGE_FROM_END = `
  SELECT late.id FROM (
    SELECT known.id FROM app_users known WHERE known.organization_id = $1 AND known.app_id = $2
    ORDER BY known.recent_at, known.id DESC
    LIMIT (SELECT greatest(least($3, ${KEPT_TOTAL} - $4), 0) ${KEPT_OF_APP})
    OFFSET (SELECT greatest(${KEPT_TOTAL} - $4 - $3, 0) ${KEPT_OF_APP})) late
  LIMIT $3`;

const usersOf = (page: string) => `
  WITH page AS MATERIALIZED (${page})
  SELECT ${COLUMNS} FROM page JOIN app_users known ON known.app_id = $2 AND known.id = page.id
  ${WITH_KEY} ${RECENT_FIRST}`;

/** Lists and counts of users, including virtual users. */
@Injectable()
export class UserViewsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Most recently seen first. */
  list(app: AppRef, { query, status, limit, offset }: UserFilter): Promise<UserRow[]> {
    const values = [app.organizationId, app.id, status ?? null, query ?? null, limit, offset];
    return this.dataSource.query(usersOf(PAGE), values);
  }

  /** The same page without a filter, faster in the second half of the list. */
  listFromEnd(app: AppRef, { limit, offset }: UserFilter): Promise<UserRow[]> {
    return this.dataSource.query(usersOf(PAGE_FROM_END), [app.organizationId, app.id, limit, offset]);
  }

  /** The number on all pages. With a text filter, matching users are counted one by one. */
  async count(app: AppRef, { query, status }: UserFilter): Promise<number> {
    if (!query) {
      const { total, blocked } = await this.keptCounts(app);
      const withStatus: Record<UserStatus, number> = { active: total - blocked, blocked };
      return status === undefined ? total : withStatus[status];
    }
    const rows: { users: number }[] = await this.dataSource.query(`SELECT count(*)::integer AS users ${MATCHING}`, [
      app.organizationId,
      app.id,
      status ?? null,
      query,
    ]);
    return rows[0]?.users ?? 0;
  }

  async find(app: AppRef, userId: string): Promise<UserRow | undefined> {
    const rows: UserRow[] = await this.dataSource.query(
      `SELECT ${COLUMNS} FROM app_users known ${WITH_KEY}
       WHERE known.organization_id = $1 AND known.app_id = $2 AND known.id = $3`,
      [app.organizationId, app.id, userId],
    );
    return rows[0];
  }

  /** By application; one that never had users is absent. */
  countByApp(organizationId: string, appIds: readonly string[]): Promise<AppUserCounts[]> {
    return this.dataSource.query(
      `SELECT kept.app_id AS "appId", sum(kept.total)::integer AS total, sum(kept.blocked)::integer AS blocked
       FROM app_user_counts kept
       WHERE kept.organization_id = $1 AND kept.app_id = ANY ($2) GROUP BY kept.app_id`,
      [organizationId, appIds],
    );
  }

  /** Excludes virtual users that are not blocked. */
  countStored(tx: EntityManager, app: AppRef): Promise<number> {
    const users = { organizationId: app.organizationId, appId: app.id };
    return tx.countBy(AppUserEntity, [
      { ...users, isVirtual: false },
      { ...users, status: 'blocked' },
    ]);
  }

  private async keptCounts({ organizationId, id }: AppRef): Promise<UserCounts> {
    const [counts] = await this.countByApp(organizationId, [id]);
    return counts ?? NO_USERS;
  }
}
