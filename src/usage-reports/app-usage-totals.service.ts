import { Injectable } from '@nestjs/common';
import { UsageRepository } from '../usage/usage.repository.js';
import type { UsageTotals } from './usage-totals.rules.js';
import { toUsageTotals } from './usage-totals.rules.js';

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

  /** Whether the account ever recorded a request. Once true, stays true. */
  hasProxiedRequests(organizationId: string): Promise<boolean> {
    return this.events.hasEvents(organizationId);
  }

  /** Whether any account has usage of this application id, deleted applications included. */
  appIdHasHistory(appId: string): Promise<boolean> {
    return this.events.hasEventsOfApp(appId);
  }
}
