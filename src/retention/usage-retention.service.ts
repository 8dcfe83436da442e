import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { errorCode } from '../common/errors/error-code.js';
import { inBatches } from '../platform/database/in-batches.js';
import { oldPartitions } from './retention.rules.js';
import type { RetentionStep } from './retention-step.js';
import { UsageRetentionRepository } from './usage-retention.repository.js';

/** Most rows one statement takes away. Source: docs/reference/accounting.md#nightly-work. */
const AT_ONCE = 5_000;
/** Longest a whole month waits to be dropped, and lets others wait; its events go one by one otherwise. */
const DROP_PATIENCE_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/** What one compaction took away. */
export interface UsageCompaction {
  /** Whole months, dropped with their events. */
  readonly months: number;
  /** Events beside those. */
  readonly events: number;
  /** Rows of sums by day that were summed up to application, type of provider, model and status. */
  readonly days: number;
  /** Rows of sums by user and day. */
  readonly userDays: number;
  /** Rows of sums by user and month. */
  readonly userMonths: number;
}

/**
 * Forgets single requests and what single users did; keeps every total. Each step may be interrupted at any
 * statement, repeated, and done by two instances at once.
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
@Injectable()
export class UsageRetention {
  readonly steps: readonly RetentionStep[] = [
    {
      done: 'usage_events_compacted',
      failed: 'usage_compaction_failed',
      run: ({ connection, days, signal }) => this.compact(connection, days.events, signal),
    },
    {
      done: 'usage_rollup_folded',
      failed: 'usage_fold_failed',
      run: async ({ connection, days, signal }) => ({ days: await this.fold(connection, days.dayTotals, signal) }),
    },
  ];

  protected readonly atOnce: number = AT_ONCE;

  constructor(private readonly usage: UsageRetentionRepository) {}

  /**
   * Events first, then the sums that are as fine as events: as long as an event is there, so is the row of its day.
   *
   * @param before UTC day, `YYYY-MM-DD`; what happened on it stays.
   */
  async compact(connection: EntityManager, before: string, signal: AbortSignal): Promise<UsageCompaction> {
    const months = await this.dropMonths(connection, before, signal);
    const events = await this.deleteEvents(connection, before, signal);
    const days = await inBatches(() => this.usage.coarsenDays(connection, before, this.atOnce), signal);
    const userDays = await inBatches(() => this.usage.deleteUserDays(connection, before, this.atOnce), signal);
    const userMonths = await inBatches(() => this.usage.deleteUserMonths(connection, before, this.atOnce), signal);
    return { months, events, days, userDays, userMonths };
  }

  /**
   * Turns sums by day into sums by month.
   *
   * @param before first day of a UTC month, `YYYY-MM-DD`.
   * @returns how many rows of days were added to their months.
   */
  fold(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.usage.foldDays(connection, before, this.atOnce), signal);
  }

  private async dropMonths(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    let dropped = 0;
    for (const name of oldPartitions(await this.usage.listPartitions(connection), before)) {
      if (signal.aborted) break;
      try {
        await this.usage.dropPartition(connection, name, DROP_PATIENCE_MS);
        dropped++;
      } catch (error) {
        if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
      }
    }
    return dropped;
  }

  private deleteEvents(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    let afterId = '0';
    return inBatches(async () => {
      const { count, lastId } = await this.usage.deleteEvents(connection, before, afterId, this.atOnce);
      afterId = lastId ?? afterId;
      return count;
    }, signal);
  }
}
