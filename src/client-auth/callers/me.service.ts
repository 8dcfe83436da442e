import { Injectable } from '@nestjs/common';
import type { ReadableApp } from '../../app-directory/app-snapshot.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { RequestLimits } from '../../limits/requests/request-limits.service.js';
import { UserUsage } from '../../usage/reports/user-usage.service.js';
import { UsersService } from '../../users/users.service.js';
import type { Caller } from './caller.js';
import { limitedCallOf } from './caller.js';
import { type UsageAndLimits, usageAndLimits } from './usage-and-limits.rules.js';

/** A user with their usage and limits. */
export interface CurrentUser {
  readonly userId: string;
  readonly standing: UsageAndLimits;
}

/** Reports a user's usage and limits. Today's requests are the larger of the limit's counter and the stored usage. */
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
    return { userId, standing: usageAndLimits(app.config.limits.per_user, { ...used, countedToday }, isBlocked) };
  }

  /** Zero when requests per user are not limited, and so not counted, or when the counter is unavailable. */
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
    message: 'This application has no users; set authentication.end_user.',
    reason: 'app_without_users',
  });
}
