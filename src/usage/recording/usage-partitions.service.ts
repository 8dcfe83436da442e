import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { Log } from '../../common/log/log.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { monthsFrom } from './usage-range.rules.js';

/** The current month and the next two, which leaves weeks to fix a failure. */
const MONTHS = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const CHECK_MS = 60_000;

/**
 * Creates partitions of `usage_events` before their month begins. Events of a month without one are stored in the
 * default partition. Several instances may run this at once.
 *
 * Source: docs/reference/accounting.md#sums.
 */
@Injectable()
export class UsagePartitions implements OnApplicationBootstrap, OnApplicationShutdown {
  private dueMs = Number.NEGATIVE_INFINITY;
  private working: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly partitions: UsagePartitionsRepository,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Runs in the background; the instance accepts calls meanwhile. */
  onApplicationBootstrap(): void {
    this.createWhenDue();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await this.working;
  }

  /** Creates the partitions once a day, and after a failure at the next check. One run at a time. */
  @Interval(CHECK_MS)
  createWhenDue(): void {
    if (this.isClosed || this.clock.monotonicMs() < this.dueMs) return;
    this.working ??= this.create().finally(() => {
      this.working = undefined;
    });
  }

  private async create(): Promise<void> {
    const startedMs = this.clock.monotonicMs();
    try {
      for (const month of monthsFrom(this.clock.utcMonth(), MONTHS)) await this.partitions.create(month);
      this.dueMs = startedMs + DAY_MS;
    } catch (error) {
      if (!this.isClosed) this.log.event('usage_partitions_failed', { error: String(error) });
    }
  }
}
