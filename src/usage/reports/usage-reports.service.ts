import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock } from '../../common/clock.js';
import { type DayRange, dayRange } from '../../common/day-range.rules.js';
import { UsageRepository } from '../recording/usage.repository.js';
import { type AppDimension, isGroupDimension, LASTING_DIMENSIONS } from '../recording/usage-columns.js';
import { firstEventDay } from '../recording/usage-range.rules.js';
import type { UsageEventFilter, UsageEventRow } from '../recording/usage-rows.js';
import { type KeySumsRow, UsageSumsRepository } from '../recording/usage-sums.repository.js';
import { type MonthUsage, toMonthUsage, toUsageTotals, type UsageTotals } from './usage-totals.rules.js';
import { UserSharesRepository } from './user-shares.repository.js';

/** Requested range of days, `YYYY-MM-DD`; an absent bound has its default. */
interface AskedDays {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface BreakdownQuestion {
  readonly by: AppDimension;
  readonly days: AskedDays;
  /** Maximum rows to return, 1 or more. */
  readonly limit: number;
}

/** Usage of one provider type on one UTC day. */
export interface UsageBucket extends UsageTotals {
  readonly date: string;
  readonly provider: string;
}

/** Source: docs/reference/management-api.md#usage-reports. */
export interface UsageTimeseries extends DayRange {
  readonly app_id: string;
  readonly buckets: readonly UsageBucket[];
}

/** Usage of one key of the dimension; null groups usage without a key. */
export interface UsageShare extends UsageTotals {
  readonly key: string | null;
}

/** Source: docs/reference/management-api.md#usage-reports. */
export interface UsageBreakdown extends DayRange {
  readonly app_id: string;
  readonly by: AppDimension;
  /** The first UTC day, `YYYY-MM-DD`, that the rows cover completely; earlier days are left out. */
  readonly complete_from: string;
  readonly rows: readonly UsageShare[];
}

/** One application's usage of one month. */
export interface AppMonthUsage extends MonthUsage {
  readonly app_id: string;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
}

/** One page of an application's events. */
export interface UsageEventPage {
  readonly appId: string;
  readonly limit: number;
  /** Newest first. */
  readonly events: readonly UsageEventRow[];
}

/** Reads recorded usage for the admin API: events and their sums. A request appears once its event is stored. */
@Injectable()
export class UsageReports {
  constructor(
    private readonly events: UsageRepository,
    private readonly sums: UsageSumsRepository,
    private readonly users: UserSharesRepository,
    private readonly clock: Clock,
  ) {}

  /** @param month UTC, `YYYY-MM`; the current one when absent. */
  async monthOf(app: AppRef, month = this.clock.utcMonth()): Promise<AppMonthUsage> {
    const row = await this.events.sumMonth(app.organizationId, app.id, month);
    return { app_id: app.id, month, ...toMonthUsage(row) };
  }

  async pageOf(app: AppRef, filter: UsageEventFilter): Promise<UsageEventPage> {
    const events = await this.events.listEvents(app.organizationId, app.id, filter);
    return { appId: app.id, limit: filter.limit, events };
  }

  /** @throws invalid_request as `dayRange` does. */
  async timeseriesOf(app: AppRef, asked: AskedDays): Promise<UsageTimeseries> {
    const range = dayRange(asked, this.clock.utcDay());
    const rows = await this.sums.sumByDay(app, range, 'provider');
    const buckets = rows.map((row) => ({ date: row.date, provider: row.key, ...toUsageTotals(row) }));
    return { app_id: app.id, ...range, buckets };
  }

  /** @throws invalid_request as `dayRange` does. */
  async breakdownOf(app: AppRef, { by, days, limit }: BreakdownQuestion): Promise<UsageBreakdown> {
    const today = this.clock.utcDay();
    const range = dayRange(days, today);
    const complete_from = completeFrom(by, range, today);
    const rows = await this.sharesOf(app, { from: complete_from, to: range.to }, by, limit);
    const shares = rows.map((row) => ({ key: row.key, ...toUsageTotals(row) }));
    return { app_id: app.id, by, ...range, complete_from, rows: shares };
  }

  private sharesOf(app: AppRef, range: DayRange, by: AppDimension, limit: number): Promise<KeySumsRow[]> {
    if (isGroupDimension(by)) return this.sums.sumByGroup(app, range, by, limit);
    if (by === 'key') return this.sums.sumByApiKey(app, range, limit);
    if (by !== 'user') return this.sums.sumByKey(app, range, by, limit);
    return this.users.sumByUser(app, range, limit, firstEventDay(this.clock.utcDay()));
  }
}

/** Only `LASTING_DIMENSIONS` remain after the events are deleted. */
function completeFrom(by: AppDimension, { from }: DayRange, today: string): string {
  const kept = firstEventDay(today);
  return LASTING_DIMENSIONS.has(by) || from > kept ? from : kept;
}
