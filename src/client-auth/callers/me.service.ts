import { Injectable } from '@nestjs/common';
import { UNLIMITED } from '../../app-directory/config/limits-config.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { UsageAndLimits } from '../../users/usage-and-limits.rules.js';
import { UserStanding } from '../../users/user-standing.service.js';
import { type Caller, isUnprovenInstall } from './caller.js';

/** A user with their usage and limits. */
export interface CurrentUser {
  readonly userId: string;
  readonly standing: UsageAndLimits;
}

/** Reports a user's usage and limits. */
@Injectable()
export class MeService {
  constructor(private readonly standing: UserStanding) {}

  /** @throws auth_method_not_supported (404) the application has no users. */
  async of(caller: Caller): Promise<CurrentUser> {
    const { app, userId } = caller;
    if (userId === null) throw withoutUsers();
    const limits = isUnprovenInstall(caller) ? UNLIMITED : app.config.limits.per_user;
    return { userId, standing: await this.standing.of(app, userId, limits) };
  }
}

function withoutUsers(): GatewayError {
  return new GatewayError('auth_method_not_supported', {
    status: 404,
    message: 'This application has no users; set authentication.end_user.',
    reason: 'app_without_users',
  });
}
