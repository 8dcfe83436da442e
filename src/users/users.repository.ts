import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, IsNull, Not } from 'typeorm';
import type { AppRef } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';
import type { StoredUser } from './app-user.entity.js';
import { AppUserEntity } from './app-user.entity.js';

const STATE = `known.id, known.status, known.last_seen_at AS "lastSeenAt", known.claim_pending_since AS "claimPendingSince"`;

const STORED = { id: true, status: true, lastSeenAt: true, claimPendingSince: true } as const;

/** The user `$3` of the application `$2` of the account `$1`. */
const THE_USER = 'known.organization_id = $1 AND known.app_id = $2 AND known.id = $3';

/** `last_seen_at` is updated when it is at least this old; an SQL interval. */
const SEEN_EVERY = "interval '1 minute'";

/**
 * Stores the user or updates `last_seen_at` to `$4`, and returns the resulting row. The row of a blocked user stays
 * unchanged. Returns no row when the application was deleted.
 */
const see = (condition: string) => `
  INSERT INTO app_users AS known (organization_id, app_id, id, status, created_at, last_seen_at)
  SELECT app.organization_id, app.id, $3, 'active', $4::timestamptz, $4::timestamptz
  FROM apps app WHERE app.organization_id = $1 AND app.id = $2 ${condition} FOR KEY SHARE OF app
  ON CONFLICT (app_id, id) DO UPDATE SET
    is_virtual = known.is_virtual AND known.status = 'blocked',
    last_seen_at = CASE
      WHEN known.status = 'blocked' OR known.last_seen_at > excluded.last_seen_at - ${SEEN_EVERY} THEN known.last_seen_at
      ELSE excluded.last_seen_at END
  RETURNING ${STATE}`;

/** As {@link see}, but takes no lock and writes nothing for a user that is blocked or was seen within the interval. */
const SEE_SELDOM = `
  WITH recent AS (
    SELECT ${STATE} FROM app_users known
    WHERE ${THE_USER} AND (known.status = 'blocked'
      OR NOT known.is_virtual AND known.last_seen_at > $4::timestamptz - ${SEEN_EVERY})),
  seen AS (${see('AND NOT EXISTS (SELECT FROM recent)')})
  SELECT * FROM recent UNION ALL SELECT * FROM seen`;

/** Writes the users of applications. Database triggers maintain the rows of virtual users (ADR 0011). */
@Injectable()
export class UsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** `undefined` for an active virtual user. */
  async find(app: AppRef, userId: string): Promise<StoredUser | undefined> {
    const user = userOf(app, userId);
    const where = [
      { ...user, isVirtual: false },
      { ...user, status: 'blocked' as const },
    ];
    return (await this.dataSource.manager.findOne(AppUserEntity, { select: STORED, where })) ?? undefined;
  }

  /** `undefined` when the application was deleted. */
  async see(app: AppRef, userId: string, at: Instant): Promise<StoredUser | undefined> {
    const rows: StoredUser[] = await this.dataSource.query(SEE_SELDOM, [app.organizationId, app.id, userId, at]);
    return rows[0];
  }

  /** The same; the row stays locked until the transaction ends. */
  async seeIn(tx: EntityManager, app: AppRef, userId: string, at: Instant): Promise<StoredUser | undefined> {
    const rows: StoredUser[] = await tx.query(see(''), [app.organizationId, app.id, userId, at]);
    return rows[0];
  }

  /** Changes nothing for a blocked user, or when a window is already open. */
  async openClaimWindow(app: AppRef, userId: string, at: Instant): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO app_users AS known (organization_id, app_id, id, status, created_at, claim_pending_since)
       SELECT app.organization_id, app.id, $3, 'active', $4::timestamptz, $4::timestamptz
       FROM apps app WHERE app.organization_id = $1 AND app.id = $2 FOR KEY SHARE OF app
       ON CONFLICT (app_id, id) DO UPDATE SET claim_pending_since = excluded.claim_pending_since, is_virtual = false
       WHERE known.status = 'active' AND known.claim_pending_since IS NULL`,
      [app.organizationId, app.id, userId, at],
    );
  }

  /** @returns when the window was opened; `undefined` when none was open. */
  async closeClaimWindow(app: AppRef, userId: string): Promise<Instant | undefined> {
    const [rows]: [{ since: Instant }[], number] = await this.dataSource.query(
      `WITH pending AS (
         SELECT known.app_id, known.id, known.claim_pending_since AS since FROM app_users known
         WHERE ${THE_USER} AND known.claim_pending_since IS NOT NULL FOR UPDATE)
       UPDATE app_users known SET claim_pending_since = NULL FROM pending
       WHERE known.organization_id = $1 AND known.app_id = pending.app_id AND known.id = pending.id
       RETURNING pending.since`,
      [app.organizationId, app.id, userId],
    );
    return rows[0]?.since;
  }

  countClaimPending({ organizationId, id: appId }: AppRef): Promise<number> {
    const pending = { claimPendingSince: Not(IsNull()), status: 'active' as const };
    return this.dataSource.manager.countBy(AppUserEntity, { organizationId, appId, ...pending });
  }

  /**
   * Blocks a user id in one statement, so that no row can appear between the check and the write (ADR 0011). An id that
   * was never seen is stored as a virtual user, and remains one when the block ends. Ends an open claim window.
   *
   * @returns whether the user changed; `undefined` when the application was deleted.
   */
  async block(tx: EntityManager, app: AppRef, userId: string, at: Instant): Promise<boolean | undefined> {
    const changed: unknown[] = await tx.query(
      `INSERT INTO app_users AS known (organization_id, app_id, id, status, created_at, is_virtual)
       SELECT app.organization_id, app.id, $3, 'blocked', $4::timestamptz, true
       FROM apps app WHERE app.organization_id = $1 AND app.id = $2 FOR KEY SHARE OF app
       ON CONFLICT (app_id, id) DO UPDATE SET status = 'blocked', claim_pending_since = NULL
       WHERE known.status <> 'blocked' RETURNING known.id`,
      [app.organizationId, app.id, userId, at],
    );
    if (changed.length > 0) return true;
    return (await tx.existsBy(AppUserEntity, userOf(app, userId))) ? false : undefined;
  }

  /** @returns whether the user changed; the row stays locked. `undefined` when there is no such user. */
  async unblock(tx: EntityManager, app: AppRef, userId: string): Promise<boolean | undefined> {
    const where = userOf(app, userId);
    const lock = { mode: 'pessimistic_write' } as const;
    const known = await tx.findOne(AppUserEntity, { select: STORED, where, lock });
    if (known?.status !== 'blocked') return known === null ? undefined : false;
    await tx.update(AppUserEntity, where, { status: 'active' });
    return true;
  }

  /**
   * Reads plain rows, because the list may be long and is read every few seconds. An application id belongs to one
   * account forever, so it names the account too.
   */
  async listBlocked(appId: string): Promise<string[]> {
    const users = this.dataSource.manager.createQueryBuilder(AppUserEntity, 'known').select('known.id', 'id');
    const rows = await users.where({ appId, status: 'blocked' }).getRawMany<{ id: string }>();
    return rows.map(({ id }) => id);
  }
}

function userOf({ organizationId, id: appId }: AppRef, id: string) {
  return { organizationId, appId, id };
}
