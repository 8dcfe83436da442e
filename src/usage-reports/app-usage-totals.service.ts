import { Injectable } from '@nestjs/common';
import { UsageRepository } from '../usage/usage.repository.js';
import type { UsageTotals } from './usage-totals.js';
import { toUsageTotals } from './usage-totals.rules.js';

/** Recorded usage of whole applications. */
@Injectable()
export class AppUsageTotals {
  constructor(private readonly events: UsageRepository) {}

  /**
   * Totals of those of the applications named that were used in the month; the others are absent.
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

  /** Whether the account ever recorded a request. Never goes back to false. */
  hasProxiedRequests(organizationId: string): Promise<boolean> {
    return this.events.hasEvents(organizationId);
  }

  /** Whether usage of an application of this id exists in any account, deleted applications included. */
  appIdHasHistory(appId: string): Promise<boolean> {
    return this.events.hasEventsOfApp(appId);
  }
}
