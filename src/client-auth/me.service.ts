import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../app-directory/app-snapshot.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { RequestLimits } from '../request-limits/request-limits.service.js';
import { UserUsage } from '../usage-reports/user-usage.service.js';
import { UsersService } from '../users/users.service.js';
import type { Caller } from './caller.js';
import { limitedCallOf } from './limited-call.rules.js';
import { type UserStanding, userStanding } from './user-standing.rules.js';

/** A user and how it stands. */
export interface CurrentUser {
  readonly userId: string;
  readonly standing: UserStanding;
}

/** Tells callers how they stand: as it is counted now, or as it is stored where that says more. */
@Injectable()
export class MeService {
  constructor(
    private readonly users: UsersService,
    private readonly usage: UserUsage,
    private readonly requests: RequestLimits,
  ) {}

  /** @throws auth_method_not_supported (404) the application has no users. */
  async of({ app, userId }: Caller): Promise<CurrentUser> {
    if (userId === null) throw withoutUsers();
    const [user, used, countedToday] = await Promise.all([
      this.users.find(app, userId),
      this.usage.currentOf(app, userId),
      this.countedToday(app, userId),
    ]);
    const isBlocked = user?.status === 'blocked';
    return { userId, standing: userStanding(app.config.limits.per_user, { ...used, countedToday }, isBlocked) };
  }

  /** Zero where requests of one user are not limited, so not counted, or where the count cannot be known now. */
  private async countedToday(app: ReadableApp, userId: string): Promise<number> {
    const limited = app.limits?.user?.requests && limitedCallOf({ app, userId });
    if (limited === undefined) return 0;
    try {
      return await this.requests.countToday(limited);
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'service_unavailable') return 0;
      throw error;
    }
  }
}

function withoutUsers(): GatewayError {
  return new GatewayError('auth_method_not_supported', {
    status: 404,
    message: 'This application has no users; set authentication.end_user to tell them apart.',
    reason: 'app_without_users',
  });
}
