import { Injectable } from '@nestjs/common';
import type { AppRef } from '../app-directory/app.entity.js';
import { appLimits } from '../app-directory/app-limits.rules.js';
import type { ScopeLimits } from '../app-directory/config/limits-config.js';
import { UNLIMITED } from '../app-directory/config/limits-config.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { RequestLimits } from '../limits/requests/request-limits.service.js';
import { UserUsage } from '../usage/reports/user-usage.service.js';
import { type UsageAndLimits, usageAndLimits } from './usage-and-limits.rules.js';
import { UsersRepository } from './users.repository.js';

/** Compares users with their limits. Today's requests are the larger of the limit's counter and the stored usage. */
@Injectable()
export class UserStanding {
  constructor(
    private readonly users: UsersRepository,
    private readonly usage: UserUsage,
    private readonly requests: RequestLimits,
  ) {}

  /** @param limits of each user. */
  async of(app: AppRef, userId: string, limits: ScopeLimits): Promise<UsageAndLimits> {
    const [user, used, countedToday] = await Promise.all([
      this.users.find(app, userId),
      this.usage.currentOf(app, userId),
      this.countedToday(app, userId, limits),
    ]);
    return usageAndLimits(limits, { ...used, countedToday }, user?.status === 'blocked');
  }

  /** Zero when requests per user are not limited, and so not counted, or when the counter is unavailable. */
  private async countedToday(app: AppRef, userId: string, limits: ScopeLimits): Promise<number> {
    const user = appLimits({ per_user: limits, per_app: UNLIMITED })?.user?.requests;
    if (user === undefined) return 0;
    try {
      const { organizationId, id: appId } = app;
      return await this.requests.countToday({ organizationId, appId, userId, user, app: undefined });
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'service_unavailable') return 0;
      throw error;
    }
  }
}
