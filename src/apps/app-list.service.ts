import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { Clock } from '../common/clock.js';
import { AppUsageTotals } from '../usage-reports/app-usage-totals.service.js';
import { AppUsers } from '../users/users.service.js';
import { AccountProvidersService } from './account-providers.js';
import { type AppSummary, summarizeApp } from './app-list.rules.js';
import { type AppPage, AppsRepository } from './apps.repository.js';

/** Number of applications that are summarised in one event loop turn, about 2 ms. */
const IN_ONE_TURN = 100;

/**
 * The applications of an account with their usage in one UTC month.
 *
 * Source: docs/reference/management-api.md#application-routes.
 */
export interface AppList {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly hasProxiedRequests: boolean;
  readonly apps: readonly AppSummary[];
}

/** Filter for the applications of an account. */
export interface AppListFilter extends AppPage {
  /** UTC month of the usage, `YYYY-MM`; the current one when absent. */
  readonly month?: string;
}

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
    const summaries: AppSummary[] = [];
    for (const [index, app] of apps.entries()) {
      if (index % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
      const recorded = { usage: usage.get(app.id), users: users.get(app.id) };
      summaries.push(summarizeApp(app, this.parser.read(app.config), account.all, recorded));
    }
    return { month, hasProxiedRequests, apps: summaries };
  }
}
