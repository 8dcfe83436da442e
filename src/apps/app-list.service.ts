import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppConfigParser } from '../app-directory/app-config-parser.js';
import { Clock } from '../common/clock.js';
import { AppUsageTotals } from '../usage/reports/app-usage-totals.service.js';
import type { UsageTotals } from '../usage/reports/usage-totals.rules.js';
import { AppUsers } from '../users/users.service.js';
import { AccountProvidersService } from './account-providers.js';
import { type AppSummary, summarizeApp } from './app-list.rules.js';
import { type AppSearch, AppsRepository } from './apps.repository.js';

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
  /** Usage of the whole account, deleted applications included. */
  readonly usage: UsageTotals;
  /** The number of applications on all pages. */
  readonly total: number;
  readonly apps: readonly AppSummary[];
}

/** Filter for the applications of an account. */
export interface AppListFilter extends Omit<AppSearch, 'month'> {
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
    const [{ ids, total }, account, usage, hasProxiedRequests] = await Promise.all([
      this.repository.search(organizationId, { ...filter, month }),
      this.providers.of(organizationId),
      this.usage.totalOfAccount(organizationId, month),
      this.usage.hasProxiedRequests(organizationId),
    ]);
    const [rows, usageOf, usersOf] = await Promise.all([
      this.repository.findAll(organizationId, ids),
      this.usage.totalsByApp(organizationId, ids, month),
      this.users.countsByApp(organizationId, ids),
    ]);
    const summaries: AppSummary[] = [];
    for (const [index, id] of ids.entries()) {
      if (index % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
      const app = rows.get(id);
      const recorded = { usage: usageOf.get(id), users: usersOf.get(id) };
      // One that was deleted since the search is in no list.
      if (app) summaries.push(summarizeApp(app, this.parser.read(app.config), account.all, recorded));
    }
    return { month, hasProxiedRequests, usage, total, apps: summaries };
  }
}
