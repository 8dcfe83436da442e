import { Injectable } from '@nestjs/common';
import { AppUsageTotals, type UsageTotals } from '../app-directory/app-usage-totals.js';
import { UsageRepository } from './usage.repository.js';
import { toUsageTotals } from './usage-totals.rules.js';

/** Answers what the rooms of applications ask about recorded usage. */
@Injectable()
export class RecordedUsageTotals extends AppUsageTotals {
  constructor(private readonly events: UsageRepository) {
    super();
  }

  async totalsByApp(
    organizationId: string,
    appIds: readonly string[],
    month: string,
  ): Promise<ReadonlyMap<string, UsageTotals>> {
    const rows = await this.events.sumMonthByApp(organizationId, appIds, month);
    return new Map(rows.map((row) => [row.app_id, toUsageTotals(row)]));
  }

  hasProxiedRequests(organizationId: string): Promise<boolean> {
    return this.events.hasEvents(organizationId);
  }

  appIdHasHistory(appId: string): Promise<boolean> {
    return this.events.hasEventsOfApp(appId);
  }
}
