import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../../app-directory/app-config-parser.js';
import { AppUsageTotals } from '../../app-directory/app-usage-totals.js';
import { AppUsers } from '../../app-directory/app-users.js';
import { Clock } from '../../common/clock.js';
import { AccountProvidersService } from '../account-providers.service.js';
import { type AppPage, AppsRepository } from '../apps.repository.js';
import { type AppSummary, summarizeApp } from './app-summary.rules.js';

/** The applications of an account with their usage of one UTC month. Source: contract-admin 2.4. */
export interface AppList {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly hasProxiedRequests: boolean;
  readonly apps: readonly AppSummary[];
}

/** Which applications of an account to list. */
export interface AppListFilter extends AppPage {
  /** UTC, `YYYY-MM`, of the usage; the current one when absent. */
  readonly month?: string;
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

  async list(organizationId: string, filter: AppListFilter): Promise<AppList> {
    const { month = this.clock.utcMonth() } = filter;
    const [apps, account, hasProxiedRequests] = await Promise.all([
      this.repository.listOf(organizationId, filter),
      this.providers.of(organizationId),
      this.usage.hasProxiedRequests(organizationId),
    ]);
    const appIds = apps.map(({ id }) => id);
    const [usage, users] = await Promise.all([
      this.usage.totalsByApp(organizationId, appIds, month),
      this.users.countsByApp(organizationId, appIds),
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
