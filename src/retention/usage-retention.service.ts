import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { systemErrorCode } from '../common/errors/system-error-code.js';
import { repeatUntilDone } from '../platform/database/repeat-until-done.js';
import { oldPartitions } from './retention.rules.js';
import type { RetentionStep } from './retention-step.js';
import { type DetailTable, UsageRetentionRepository } from './usage-retention.repository.js';

/** Maximum rows per statement. Source: docs/reference/accounting.md#nightly-work. */
const AT_ONCE = 5_000;
/** Lock timeout of dropping a month; after it, the events are deleted in batches instead. */
const DROP_PATIENCE_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/** The totals of one compaction. */
export interface UsageCompaction {
  /** Partitions dropped with their events. */
  readonly months: number;
  /** Events deleted in addition to those. */
  readonly events: number;
  /** Daily rollup rows folded to application, provider type, model and status. */
  readonly days: number;
  /** Daily rollup rows of users. */
  readonly userDays: number;
  /** Monthly rollup rows of users. */
  readonly userMonths: number;
}

/**
 * Deletes events and usage per user; preserves every total of an application. Each step may be interrupted at any
 * statement, repeated, and run by two instances at once.
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
@Injectable()
export class UsageRetention {
  readonly steps: readonly RetentionStep[] = [
    {
      done: 'usage_events_compacted',
      failed: 'usage_compaction_failed',
      run: ({ connection, days, signal }) => this.compact(connection, days.usageEvents, signal),
    },
    {
      done: 'usage_rollup_folded',
      failed: 'usage_fold_failed',
      run: async ({ connection, days, signal }) => ({ days: await this.fold(connection, days.dayTotals, signal) }),
    },
    {
      done: 'usage_app_months_merged',
      failed: 'usage_merge_failed',
      run: async ({ connection, signal }) => ({ rows: await this.mergeAppMonths(connection, signal) }),
    },
  ];

  protected readonly atOnce: number = AT_ONCE;

  constructor(private readonly usage: UsageRetentionRepository) {}

  /**
   * Deletes events first, then the rollups of the same granularity: an event always has the row of its day.
   *
   * @param before UTC day, `YYYY-MM-DD`; the day itself is kept.
   */
  async compact(connection: EntityManager, before: string, signal: AbortSignal): Promise<UsageCompaction> {
    const months = await this.dropMonths(connection, before, signal);
    const events = await this.deleteEvents(connection, before, signal);
    const days = await repeatUntilDone(() => this.usage.coarsenDays(connection, before, this.atOnce), signal);
    const userDays = await this.deleteDetail(connection, 'usage_user_days', before, signal);
    await this.deleteDetail(connection, 'usage_key_days', before, signal);
    await this.deleteDetail(connection, 'usage_group_days', before, signal);
    await this.deleteDetail(connection, 'usage_latencies', before, signal);
    const userMonths = await repeatUntilDone(
      () => this.usage.deleteUserMonths(connection, before, this.atOnce),
      signal,
    );
    return { months, events, days, userDays, userMonths };
  }

  private deleteDetail(connection: EntityManager, table: DetailTable, before: string, signal: AbortSignal) {
    return repeatUntilDone(() => this.usage.deleteDetailDays(connection, table, before, this.atOnce), signal);
  }

  /**
   * Folds daily rollups into monthly ones.
   *
   * @param before first day of a UTC month, `YYYY-MM-DD`.
   * @returns the number of daily rows folded.
   */
  fold(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return repeatUntilDone(() => this.usage.foldDays(connection, before, this.atOnce), signal);
  }

  /** Merges the sums of applications by month, which each connection keeps in rows of its own. @returns rows saved. */
  mergeAppMonths(connection: EntityManager, signal: AbortSignal): Promise<number> {
    return repeatUntilDone(() => this.usage.mergeAppMonths(connection, this.atOnce), signal);
  }

  private async dropMonths(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    let dropped = 0;
    for (const name of oldPartitions(await this.usage.listPartitions(connection), before)) {
      if (signal.aborted) break;
      try {
        await this.usage.dropPartition(connection, name, DROP_PATIENCE_MS);
        dropped++;
      } catch (error) {
        if (systemErrorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
      }
    }
    return dropped;
  }

  private deleteEvents(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    let afterId = '0';
    return repeatUntilDone(async () => {
      const { count, lastId } = await this.usage.deleteEvents(connection, before, afterId, this.atOnce);
      afterId = lastId ?? afterId;
      return count;
    }, signal);
  }
}
