import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRef, AppRow } from '../app-directory/app.entity.js';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { isUserId, USER_ID_FORM } from '../app-directory/user-id.rules.js';
import { Clock } from '../common/clock.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { NO_USAGE } from '../usage/reports/usage-totals.rules.js';
import { UserUsage } from '../usage/reports/user-usage.service.js';
import type { UserFilter, UserRow, UserStatus, UserView } from './app-user.entity.js';
import { blockedUsersChange } from './blocked-users.js';
import { UserViewsRepository } from './user-views.repository.js';
import { UsersRepository } from './users.repository.js';

/** Users of an application with their usage in one month. */
interface UsersInMonth {
  readonly appId: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** One page of users. */
export interface UserPage extends UsersInMonth {
  /** Across all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** Most recently seen first. */
  readonly users: readonly UserView[];
}

/** One user. */
export interface SingleUser extends UsersInMonth {
  readonly user: UserView;
}

/** Lists, reads, blocks and unblocks the users of an application. */
@Injectable()
export class ManagedUsers {
  constructor(
    private readonly views: UserViewsRepository,
    private readonly repository: UsersRepository,
    private readonly usage: UserUsage,
    private readonly configs: AppConfigParser,
    private readonly writes: ConfigurationWrites,
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
   * @throws not_found no user with this id was seen or blocked.
   */
  async get(app: AppRef, userId: string, month = this.clock.utcMonth()): Promise<SingleUser> {
    const row = await this.views.find(app, userId);
    const [user] = row === undefined ? [] : await this.withUsage(app, [row], month);
    if (user === undefined) throw new GatewayError('not_found');
    return { appId: app.id, month, user };
  }

  /**
   * Blocks a user, also one that was never seen. It takes effect at the next exchange, and on every instance within ten
   * seconds, normally at once. Repeating it changes nothing, but notifies every instance again.
   *
   * @throws invalid_request the id is invalid; or the application has no user identities, and no user with this id was
   * seen.
   * @throws app_not_found it was deleted during this call.
   */
  async block(admin: AdminPrincipal, app: AppRow, userId: string): Promise<void> {
    if (!isUserId(userId)) throw invalidRequest('user_id', USER_ID_FORM);
    if (!this.hasUsers(app) && (await this.views.find(app, userId)) === undefined) throw withoutUsers();
    await this.change(admin, app, { userId, status: 'blocked' }, async (tx) => {
      const isChanged = await this.repository.block(tx, app, userId, this.clock.now());
      if (isChanged === undefined) throw new GatewayError('app_not_found', { reason: 'app_deleted' });
      return isChanged;
    });
  }

  /**
   * Unblocks a user, with the same propagation.
   *
   * @throws not_found no user with this id was seen or blocked.
   */
  async unblock(admin: AdminPrincipal, app: AppRow, userId: string): Promise<void> {
    await this.change(admin, app, { userId, status: 'active' }, async (tx) => {
      const isChanged = await this.repository.unblock(tx, app, userId);
      if (isChanged === undefined) throw new GatewayError('not_found');
      return isChanged;
    });
  }

  /** @param write returns whether it changed the user. */
  private async change(
    admin: AdminPrincipal,
    app: AppRef,
    { userId, status }: { readonly userId: string; readonly status: UserStatus },
    write: (tx: EntityManager) => Promise<boolean>,
  ): Promise<void> {
    await this.writes.run(admin, async (tx) => {
      const isChanged = await write(tx);
      const changes = [blockedUsersChange(app.id)];
      return { result: undefined, changes, ...(isChanged ? { entry: entryOf(app, userId, status) } : {}) };
    });
  }

  /** An application whose configuration no longer parses may have users, so blocking stays possible. */
  private hasUsers({ config }: AppRow): boolean {
    const stored = this.configs.read(config);
    return stored.configError !== null || stored.config.authentication.end_user !== undefined;
  }

  /** Without a filter, the page is read from the nearer end of the list. With a filter the nearer end is unknown. */
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

function withoutUsers(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'app: has no users to block; set authentication.end_user.',
    reason: 'app_without_users',
  });
}

function entryOf(app: AppRef, userId: string, status: UserStatus): AuditEntry {
  const action = status === 'blocked' ? 'user.blocked' : 'user.unblocked';
  return { action, targetType: 'user', targetId: userId, appId: app.id };
}
