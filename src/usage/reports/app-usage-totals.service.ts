import { Injectable } from '@nestjs/common';
import { UsageRepository } from '../recording/usage.repository.js';
import type { UsageTotals } from './usage-totals.rules.js';
import { NO_USAGE, toUsageTotals } from './usage-totals.rules.js';

/** Usage of an account in a month. */
export interface AccountUsage {
  /** UTC day of the first recorded request that is kept, `YYYY-MM-DD`; null without any. */
  readonly firstDay: string | null;
  readonly totals: UsageTotals;
  readonly apps: readonly AccountAppUsage[];
}

/** Usage of one application of an account in a month. */
interface AccountAppUsage extends Omit<AccountUsage, 'apps'> {
  readonly appId: string;
}

/** Reads recorded usage of whole applications. */
@Injectable()
export class AppUsageTotals {
  constructor(private readonly events: UsageRepository) {}

  /**
   * Totals of a month by application, without applications that have no usage.
   *
   * @param month UTC, `YYYY-MM`.
   */
  async totalsByApp(
    organizationId: string,
    appIds: readonly string[],
    month: string,
  ): Promise<ReadonlyMap<string, UsageTotals>> {
    const rows = await this.events.sumMonthByApp(organizationId, appIds, month);
    return new Map(rows.map((row) => [row.app_id, toUsageTotals(row)]));
  }

  /** Totals of a UTC month, `YYYY-MM`, of all applications of an account, deleted ones included. */
  async totalOfAccount(organizationId: string, month: string): Promise<UsageTotals> {
    const row = await this.events.sumMonthOfAll(organizationId, month);
    return row === undefined ? NO_USAGE : toUsageTotals(row);
  }

  /**
   * Totals of a month of an account and of its applications, deleted ones included.
   *
   * @param month UTC, `YYYY-MM`.
   */
  async totalsOfAccount(organizationId: string, month: string): Promise<AccountUsage> {
    const rows = await this.events.sumMonthOfAccount(organizationId, month);
    const apps: AccountAppUsage[] = [];
    let account: Omit<AccountUsage, 'apps'> = { firstDay: null, totals: NO_USAGE };
    for (const row of rows) {
      const { app_id: appId, first_day: firstDay } = row;
      if (appId === null) account = { firstDay, totals: toUsageTotals(row) };
      else apps.push({ appId, firstDay, totals: toUsageTotals(row) });
    }
    return { ...account, apps };
  }

  /** Whether the account ever recorded a request. Once true, stays true. */
  hasProxiedRequests(organizationId: string): Promise<boolean> {
    return this.events.hasEvents(organizationId);
  }

  /** Whether any account has usage of this application id, deleted applications included. */
  appIdHasHistory(appId: string): Promise<boolean> {
    return this.events.hasEventsOfApp(appId);
  }
}
