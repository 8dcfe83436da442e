import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AppRef } from '../app-directory/app-row.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { StoredUser } from './user.js';
import { UsersRepository } from './users.repository.js';

export type { StoredUser };

/** Keeps the users who exchange a proof. Admission reads who is blocked from `BlockedUsers`; an exchange asks here. */
@Injectable()
export class UsersService {
  constructor(
    private readonly repository: UsersRepository,
    private readonly clock: Clock,
  ) {}

  /** As stored now; `undefined` also for one who is known from usage only. */
  find(app: AppRef, userId: string): Promise<StoredUser | undefined> {
    return this.repository.find(app, userId);
  }

  /**
   * Stores a user at first sight; later writes down, at most once a minute, that they were seen. A blocked user is
   * answered blocked and stays as they are. An open claim window stays open.
   *
   * @throws app_not_found the application was deleted meanwhile.
   */
  async seen(app: AppRef, userId: string): Promise<StoredUser> {
    return requireApp(await this.repository.see(app, userId, this.clock.now()));
  }

  /** The same within a transaction, to whose end nobody else blocks the user or changes their row. */
  async seenIn(tx: EntityManager, app: AppRef, userId: string): Promise<StoredUser> {
    return requireApp(await this.repository.seeIn(tx, app, userId, this.clock.now()));
  }

  /**
   * Starts to measure how long a required claim takes to arrive, at the first refusal for its absence. Stores the user
   * if needed; does nothing for a blocked one, or while a window is open.
   *
   * Source: docs/reference/application-api.md#identity-tokens.
   */
  openClaimWindow(app: AppRef, userId: string): Promise<void> {
    return this.repository.openClaimWindow(app, userId, this.clock.now());
  }

  /** @returns for how many milliseconds the window was open, to exactly one caller; null when none was open. */
  async closeClaimWindow(app: AppRef, userId: string): Promise<number | null> {
    const since = await this.repository.closeClaimWindow(app, userId);
    return since === undefined ? null : Math.max(0, this.clock.nowMs() - since.getTime());
  }

  /** Active users who still wait for a required claim. */
  countClaimPending(app: AppRef): Promise<number> {
    return this.repository.countClaimPending(app);
  }
}

function requireApp(user: StoredUser | undefined): StoredUser {
  if (user === undefined) throw new GatewayError('app_not_found', { reason: 'app_deleted' });
  return user;
}
