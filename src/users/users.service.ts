import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app.entity.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { StoredUser } from './app-user.entity.js';
import { type UserCounts, UserViewsRepository } from './user-views.repository.js';
import { UsersRepository } from './users.repository.js';

export type { StoredUser };

/** Stores the users that exchange a proof. Exchanges read the block status here, calls from `BlockedUsers`. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly clock: Clock,
  ) {}

  /** The stored user; `undefined` for an active virtual user. */
  find(app: AppRef, userId: string): Promise<StoredUser | undefined> {
    return this.repository.find(app, userId);
  }

  /**
   * Stores a user at the first exchange, and updates the time of the last one at most once a minute. A blocked user is
   * returned as blocked and stays unchanged. An open claim window stays open.
   *
   * @throws app_not_found the application was deleted during this call.
   */
  async seen(app: AppRef, userId: string): Promise<StoredUser> {
    return requireApp(await this.repository.see(app, userId, this.clock.now()));
  }

  /** The same within a transaction; the user's row is locked until it ends. */
  async seenIn(tx: EntityManager, app: AppRef, userId: string): Promise<StoredUser> {
    return requireApp(await this.repository.seeIn(tx, app, userId, this.clock.now()));
  }

  /**
   * Starts to measure how long a required claim takes to arrive, at the first refusal for its absence. Stores the user
   * if needed; does nothing for a blocked user, or when a window is open.
   *
   * Source: docs/reference/application-api.md#identity-tokens.
   */
  openClaimWindow(app: AppRef, userId: string): Promise<void> {
    return this.repository.openClaimWindow(app, userId, this.clock.now());
  }

  /** @returns the duration of the open window in milliseconds, to exactly one caller; null when none was open. */
  async closeClaimWindow(app: AppRef, userId: string): Promise<number | null> {
    const since = await this.repository.closeClaimWindow(app, userId);
    return since === undefined ? null : Math.max(0, this.clock.nowMs() - since.getTime());
  }

  /** The number of active users with a missing required claim. */
  countClaimPending(app: AppRef): Promise<number> {
    return this.repository.countClaimPending(app);
  }
}

function requireApp(user: StoredUser | undefined): StoredUser {
  if (user === undefined) throw new GatewayError('app_not_found', { reason: 'app_deleted' });
  return user;
}

/** User counts of applications. */
@Injectable()
export class AppUsers {
  constructor(private readonly repository: UserViewsRepository) {}

  /** User counts by application, including virtual users; an application that never had users is absent. */
  async countsByApp(organizationId: string, appIds: readonly string[]): Promise<ReadonlyMap<string, UserCounts>> {
    const rows = await this.repository.countByApp(organizationId, appIds);
    return new Map(rows.map(({ appId, total, blocked }) => [appId, { total, blocked }]));
  }

  /** The stored users of an application within a transaction: those that are deleted with it. */
  countOf(tx: EntityManager, app: AppRef): Promise<number> {
    return this.repository.countStored(tx, app);
  }
}
