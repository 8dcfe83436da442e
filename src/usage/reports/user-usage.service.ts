import { Injectable } from '@nestjs/common';
import type { AppRef } from '../../app-directory/app.entity.js';
import { Clock } from '../../common/clock.js';
import { UsageRepository } from '../recording/usage.repository.js';
import type { UsageStatus } from '../recording/usage-event.js';
import type { UsageTotals } from './usage-totals.rules.js';
import { toUsageTotals, toUsd } from './usage-totals.rules.js';

export interface CurrentUsage {
  /** On the current UTC day, without refused requests. */
  readonly requestsToday: number;
  /** Tokens of the current UTC day that a limit of tokens per day counted. */
  readonly tokensToday: number;
  /** In the current UTC day, week and month, US dollars. */
  readonly dayCostUsd: number;
  readonly weekCostUsd: number;
  readonly monthCostUsd: number;
  /** Estimate of the month in addition to its cost, US dollars. */
  readonly monthEstimatedCostUsd: number;
}

/** A user's usage on one UTC day, `YYYY-MM-DD`. */
export interface UserDayUsage extends UsageTotals {
  readonly date: string;
}

/** Requests of one UTC day with one status. */
export interface DayFailures {
  /** UTC, `YYYY-MM-DD`. */
  readonly date: string;
  readonly status: UsageStatus;
  readonly count: number;
}

/** Reads usage of single users for other modules. A request appears once its event is stored. */
@Injectable()
export class UserUsage {
  constructor(
    private readonly events: UsageRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Totals of a month by user, without users that have no usage.
   *
   * @param month UTC, `YYYY-MM`.
   */
  async totalsOf(app: AppRef, userIds: readonly string[], month: string): Promise<ReadonlyMap<string, UsageTotals>> {
    if (userIds.length === 0) return new Map();
    const rows = await this.events.listUserMonths(app, userIds, month);
    return new Map(rows.map((row) => [row.user_id, toUsageTotals(row)]));
  }

  /** By day, without days that have no usage. @param month UTC, `YYYY-MM`. */
  async daysOf(app: AppRef, userId: string, month: string): Promise<UserDayUsage[]> {
    const rows = await this.events.listUserDays(app, userId, month);
    return rows.map((row) => ({ date: row.date, ...toUsageTotals(row) }));
  }

  /** Zeros for an unknown user. */
  async currentOf(app: AppRef, userId: string): Promise<CurrentUsage> {
    const row = await this.events.findUserMonth(app, userId, this.clock.utcDay());
    return {
      requestsToday: Number(row?.requests_today ?? 0),
      tokensToday: Number(row?.tokens_today ?? 0),
      dayCostUsd: toUsd(row?.day_cost_nano_usd ?? '0'),
      weekCostUsd: toUsd(row?.week_cost_nano_usd ?? '0'),
      monthCostUsd: toUsd(row?.cost_nano_usd ?? '0'),
      monthEstimatedCostUsd: toUsd(row?.estimated_nano_usd ?? '0'),
    };
  }

  /**
   * Requests with a status other than `ok`, including refused ones, by day and status.
   *
   * @param from first UTC day, `YYYY-MM-DD`.
   * @param to last UTC day, inclusive.
   */
  async failuresByDay(app: AppRef, from: string, to: string): Promise<DayFailures[]> {
    const rows = await this.events.countFailuresByDay(app, from, to);
    return rows.map(({ date, status, count }) => ({ date, status, count: Number(count) }));
  }
}
