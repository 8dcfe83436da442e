import { Injectable } from '@nestjs/common';
import type { AppRef } from '../app-directory/app-row.js';
import { Clock } from '../common/clock.js';
import { UsageRepository } from '../usage/usage.repository.js';
import type { UsageStatus } from '../usage/usage-event.js';
import type { UsageTotals } from './usage-totals.js';
import { toUsageTotals, toUsd } from './usage-totals.rules.js';

/** What a user has used so far. */
export interface CurrentUsage {
  /** In the current UTC day, refusals not counted. */
  readonly requestsToday: number;
  /** In the current UTC month, US dollars. */
  readonly monthCostUsd: number;
  /** What that month may have cost beside it. */
  readonly monthEstimatedCostUsd: number;
}

/** Requests of one UTC day that ended in one way. */
export interface DayFailures {
  /** UTC, `YYYY-MM-DD`. */
  readonly date: string;
  readonly status: UsageStatus;
  readonly count: number;
}

/** Answers what other rooms ask about the usage of single users. Knows of a request once its event is stored. */
@Injectable()
export class UserUsage {
  constructor(
    private readonly events: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Totals of those of the users who used the application in the month; the others are absent.
   *
   * @param month UTC, `YYYY-MM`.
   */
  async totalsOf(app: AppRef, userIds: readonly string[], month: string): Promise<ReadonlyMap<string, UsageTotals>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.events.listUserMonths(app, userIds, month);
    return new Map(rows.map((row) => [row.user_id, toUsageTotals(row)]));
  }

  /** Zeros for a user who was never seen. */
  async currentOf(app: AppRef, userId: string): Promise<CurrentUsage> {
    const row = await this.events.findUserMonth(app, userId, this.clock.utcDay());
    return {
      requestsToday: Number(row?.requests_today ?? 0),
      monthCostUsd: toUsd(row?.cost_nano_usd ?? '0'),
      monthEstimatedCostUsd: toUsd(row?.estimated_nano_usd ?? '0'),
    };
  }

  /**
   * Requests that did not end `ok`, refused ones included, by day and status.
   *
   * @param from first UTC day, `YYYY-MM-DD`.
   * @param to last one, inclusive.
   */
  async failuresByDay(app: AppRef, from: string, to: string): Promise<DayFailures[]> {
    const rows = await this.events.countFailuresByDay(app, from, to);
    return rows.map(({ date, status, count }) => ({ date, status, count: Number(count) }));
  }
}
