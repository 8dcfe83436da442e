import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import { UserUsage } from '../usage/user-usage.service.js';
import { UsersService } from '../users/users.service.js';
import type { Caller } from './caller.js';
import { type UserStanding, userStanding } from './user-standing.rules.js';

/** A user and how it stands. */
export interface CurrentUser {
  readonly userId: string;
  readonly standing: UserStanding;
}

/** Tells callers how they stand, as it is stored now. */
@Injectable()
export class MeService {
  constructor(
    private readonly users: UsersService,
    private readonly usage: UserUsage,
  ) {}

  /** @throws auth_method_not_supported (404) the application has no users. */
  async of({ app, userId }: Caller): Promise<CurrentUser> {
    if (userId === null) throw withoutUsers();
    const [user, used] = await Promise.all([this.users.find(app, userId), this.usage.currentOf(app, userId)]);
    const isBlocked = user?.status === 'blocked';
    return { userId, standing: userStanding(app.config.limits.per_user, used, isBlocked) };
  }
}

function withoutUsers(): GatewayError {
  return new GatewayError('auth_method_not_supported', {
    status: 404,
    message: 'This application has no users; set authentication.end_user to tell them apart.',
    reason: 'app_without_users',
  });
}
