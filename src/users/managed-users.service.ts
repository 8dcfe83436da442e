import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import { NO_USAGE } from '../app-directory/app-usage-totals.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { AdminPrincipal } from '../identity/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../identity/audit/audit-trail.js';
import { UserUsage } from '../usage/user-usage.service.js';
import { BlockedUsers } from './blocked-users.js';
import type { UserFilter, UserRow, UserStatus, UserView } from './user.js';
import { UserViewsRepository } from './user-views.repository.js';
import { UsersRepository } from './users.repository.js';

/** Users of an application with their usage of one month. */
interface UsersInMonth {
  readonly appId: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** One page of them. */
export interface UserPage extends UsersInMonth {
  /** On all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** Those seen last come first. */
  readonly users: readonly UserView[];
}

/** One of them. */
export interface SingleUser extends UsersInMonth {
  readonly user: UserView;
}

/** What people do with the users of an application: list, read, block and unblock. */
@Injectable()
export class ManagedUsers {
  constructor(
    private readonly dataSource: DataSource,
    private readonly views: UserViewsRepository,
    private readonly repository: UsersRepository,
    private readonly blockedUsers: BlockedUsers,
    private readonly usage: UserUsage,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @param month UTC, `YYYY-MM`; the current one when absent. */
  async page(app: AppRef, filter: UserFilter, month = this.clock.utcMonth()): Promise<UserPage> {
    const { rows, total } = await this.find(app, filter);
    const users = await this.withUsage(app, rows, month);
    return { appId: app.id, month, total, limit: filter.limit, offset: filter.offset, users };
  }

  /**
   * @param month UTC, `YYYY-MM`; the current one when absent.
   * @throws not_found nobody of this id was ever seen.
   */
  async get(app: AppRef, userId: string, month = this.clock.utcMonth()): Promise<SingleUser> {
    const row = await this.views.find(app, userId);
    const [user] = row === undefined ? [] : await this.withUsage(app, [row], month);
    if (user === undefined) throw new GatewayError('not_found');
    return { appId: app.id, month, user };
  }

  /**
   * Keeps a user out, or lets them in again: at the next exchange, and at every instance within ten seconds, normally at
   * once. Repeating it changes nothing, and is told to every instance again.
   *
   * @throws not_found nobody of this id was ever seen.
   * Source: contract-admin 4; decision 5.2.
   */
  async setStatus(admin: AdminPrincipal, app: AppRef, userId: string, status: UserStatus): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const isChanged = await this.repository.setStatus(tx, app, userId, status);
      if (isChanged === undefined) throw new GatewayError('not_found');
      if (isChanged) await this.trail.record(tx, admin, entryOf(app, userId, status));
      await this.blockedUsers.announceChange(tx, app.id);
    });
    this.blockedUsers.forget(app.id);
  }

  /** All users are passed over from the nearer end; nobody knows which is nearer for those that pass a filter. */
  private async find(app: AppRef, filter: UserFilter): Promise<{ rows: UserRow[]; total: number }> {
    const { query, status, limit, offset } = filter;
    if (query || status !== undefined) {
      const [rows, total] = await Promise.all([this.views.list(app, filter), this.views.count(app, filter)]);
      return { rows, total };
    }
    const total = await this.views.count(app, filter);
    const isLate = offset > total - offset - limit;
    const rows = isLate ? await this.views.listFromEnd(app, filter) : await this.views.list(app, filter);
    return { rows, total };
  }

  private async withUsage(app: AppRef, rows: readonly UserRow[], month: string): Promise<UserView[]> {
    const ids = rows.map(({ id }) => id);
    const usage = await this.usage.totalsOf(app, ids, month);
    return rows.map((row) => ({ ...row, usage: usage.get(row.id) ?? NO_USAGE }));
  }
}

function entryOf(app: AppRef, userId: string, status: UserStatus): AuditEntry {
  const action = status === 'blocked' ? 'user.blocked' : 'user.unblocked';
  return { action, targetType: 'user', targetId: userId, appId: app.id };
}
