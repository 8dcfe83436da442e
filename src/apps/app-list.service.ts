import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { AppUsageTotals } from '../app-directory/app-usage-totals.js';
import { AppUsers } from '../app-directory/app-users.js';
import { Clock } from '../common/clock.js';
import { AccountProvidersService } from './account-providers.service.js';
import { type AppSummary, summarizeApp } from './app-summary.rules.js';
import { AppsRepository } from './apps.repository.js';

/** The applications of an account with their usage of one UTC month. Source: contract-admin 2.4. */
export interface AppList {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly hasProxiedRequests: boolean;
  readonly apps: readonly AppSummary[];
}

/** Lists applications. */
@Injectable()
export class AppListService {
  constructor(
    private readonly repository: AppsRepository,
    private readonly parser: AppConfigParser,
    private readonly providers: AccountProvidersService,
    private readonly usage: AppUsageTotals,
    private readonly users: AppUsers,
    private readonly clock: Clock,
  ) {}

  /** @param askedMonth `YYYY-MM`; the current UTC month when absent. */
  async list(organizationId: string, askedMonth: string | undefined): Promise<AppList> {
    const month = askedMonth ?? this.clock.utcMonth();
    const [apps, account, hasProxiedRequests, usage, users] = await Promise.all([
      this.repository.listOf(organizationId),
      this.providers.of(organizationId),
      this.usage.hasProxiedRequests(organizationId),
      this.usage.totalsByApp(organizationId, month),
      this.users.countsByApp(organizationId),
    ]);
    const summaries = apps.map((app) =>
      summarizeApp(app, this.parser.read(app.config), account.all, {
        usage: usage.get(app.id),
        users: users.get(app.id),
      }),
    );
    return { month, hasProxiedRequests, apps: summaries };
  }
}
