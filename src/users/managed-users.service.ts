import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRef, AppRow } from '../app-directory/app.entity.js';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { budgetsOf, type ScopeLimits, toNanoUsd, UNLIMITED } from '../app-directory/config/limits-config.js';
import { isUserId, USER_ID_FORM } from '../app-directory/user-id.rules.js';
import { Clock } from '../common/clock.js';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { NO_USAGE, toUsd } from '../usage/reports/usage-totals.rules.js';
import { type UserDayUsage, UserUsage } from '../usage/reports/user-usage.service.js';
import type {
  ListedUserRow,
  SpentBudget,
  UserFilter,
  UserListing,
  UserOrder,
  UserRow,
  UserStatus,
  UserView,
} from './app-user.entity.js';
import { blockedUsersChange } from './blocked-users.js';
import type { UsageAndLimits } from './usage-and-limits.rules.js';
import { cursorOf, placeOf } from './user-cursor.rules.js';
import { UserStanding } from './user-standing.service.js';
import { UserViewsRepository } from './user-views.repository.js';
import { UsersRepository } from './users.repository.js';

/** Users of an application with their usage in one month. */
interface UsersInMonth {
  readonly appId: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** Requests one page of users. */
export interface UserQuestion extends Omit<UserFilter, 'spent'> {
  readonly order: UserOrder;
  /** UTC, `YYYY-MM`; the current month when absent. */
  readonly month?: string | undefined;
  /** Only users who have spent this percentage of one of their budgets; nobody when users have no budget. */
  readonly minBudgetPercent?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** One page of users. */
export interface UserPage extends UsersInMonth {
  /** Across all pages. */
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** US dollars that each user may spend in a month, as configured now; null: unlimited. */
  readonly monthlyBudgetUsd: number | null;
  readonly users: readonly UserView[];
}

/** One user. */
export interface SingleUser extends UsersInMonth {
  readonly user: UserView;
  /** Current usage, regardless of the month. */
  readonly standing: UsageAndLimits;
  /** Of the month, by day; days without usage are absent. */
  readonly days: readonly UserDayUsage[];
}

/** Lists, reads, blocks and unblocks the users of an application. */
@Injectable()
export class ManagedUsers {
  constructor(
    private readonly views: UserViewsRepository,
    private readonly repository: UsersRepository,
    private readonly usage: UserUsage,
    private readonly standing: UserStanding,
    private readonly configs: AppConfigParser,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
  ) {}

  /** @throws invalid_request the cursor is not of such a list, or an offset has no meaning here. */
  async page(app: AppRow, question: UserQuestion): Promise<UserPage> {
    const { month = this.clock.utcMonth(), order, cursor, minBudgetPercent, ...filter } = question;
    const { limit, offset } = filter;
    if (offset > 0 && order !== 'recent') throw invalidRequest('offset', 'must be 0 with this sort; use cursor');
    if (offset > 0 && cursor !== undefined) throw invalidRequest('offset', 'must be 0 with a cursor');
    const after = cursor === undefined ? undefined : placeOf(order, cursor);
    const limits = this.limitsOf(app);
    const page = { appId: app.id, month, limit, offset, monthlyBudgetUsd: limits.spending.monthly_usd };
    const budgets = this.budgetsIn(limits, month);
    if (minBudgetPercent !== undefined && budgets.length === 0) {
      return { ...page, total: 0, nextCursor: null, users: [] };
    }
    const spent = minBudgetPercent === undefined ? undefined : partsOf(budgets, minBudgetPercent);
    const { rows, total } = await this.find(app, { ...filter, order, month, after, spent });
    const users = await this.withUsage(app, rows, month, budgets);
    const last = rows.at(-1);
    const nextCursor = last !== undefined && rows.length === limit ? cursorOf(order, last) : null;
    return { ...page, total, nextCursor, users };
  }

  /**
   * @param month UTC, `YYYY-MM`; the current one when absent.
   * @throws not_found no user with this id was seen or blocked.
   */
  async get(app: AppRow, userId: string, month = this.clock.utcMonth()): Promise<SingleUser> {
    const limits = this.limitsOf(app);
    const row = await this.views.find(app, userId, month);
    if (row === undefined) throw new GatewayError('not_found');
    const [[user], standing, days] = await Promise.all([
      this.withUsage(app, [row], month, this.budgetsIn(limits, month)),
      this.standing.of(app, userId, limits),
      this.usage.daysOf(app, userId, month),
    ]);
    if (user === undefined) throw new GatewayError('not_found');
    return { appId: app.id, month, user, standing, days };
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
    if (!this.hasUsers(app) && (await this.views.find(app, userId, this.clock.utcMonth())) === undefined)
      throw withoutUsers();
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

  /** Limits of each user; none where the configuration no longer parses. */
  private limitsOf({ config }: AppRow): ScopeLimits {
    return this.configs.read(config).config?.limits.per_user ?? UNLIMITED;
  }

  /** The budgets of each user in a month; those of the day and week are current, so they belong to no other month. */
  private budgetsIn({ spending }: ScopeLimits, month: string): SpentBudget[] {
    const now = this.clock.now().toISOString().slice(0, 'YYYY-MM-DD'.length);
    return budgetsOf(spending).flatMap(({ window, usd }) => {
      if (window === 'total' || (window !== 'month' && !now.startsWith(month))) return [];
      return [{ window, day: window === 'month' ? `${month}-01` : now, nanoUsd: toNanoUsd(usd) }];
    });
  }

  /** Without a filter, a page by its offset is read from the nearer end of the list. */
  private async find(app: AppRef, listing: UserListing): Promise<{ rows: ListedUserRow[]; total: number }> {
    const { query, status, spent, order, limit, offset } = listing;
    if (query || status !== undefined || spent !== undefined || order !== 'recent' || offset === 0) {
      const [rows, total] = await Promise.all([this.views.list(app, listing), this.views.count(app, listing)]);
      return { rows, total };
    }
    const total = await this.views.count(app, listing);
    const isLate = offset > total - offset - limit;
    const rows = isLate ? await this.views.listFromEnd(app, listing) : await this.views.list(app, listing);
    return { rows, total };
  }

  private async withUsage(
    app: AppRef,
    rows: readonly UserRow[],
    month: string,
    budgets: readonly SpentBudget[],
  ): Promise<UserView[]> {
    const ids = rows.map(({ id }) => id);
    const [usage, atLimit] = await Promise.all([
      this.usage.totalsOf(app, ids, month),
      this.views.atLimit(app, ids, budgets),
    ]);
    return rows.map(({ spentNanoUsd, ...row }) => {
      const isAtLimit = atLimit.has(row.id);
      return { ...row, usage: usage.get(row.id) ?? NO_USAGE, budgetSpentUsd: toUsd(spentNanoUsd), isAtLimit };
    });
  }
}

/** Exact: budgets are whole microdollars, thus multiples of 1000 nano-dollars. */
function partsOf(budgets: readonly SpentBudget[], percent: number): readonly SpentBudget[] {
  return budgets.map(({ nanoUsd, ...budget }) => ({ ...budget, nanoUsd: (nanoUsd / 100) * percent }));
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
