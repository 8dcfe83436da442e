import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { monthsFrom } from './usage-range.rules.js';

/** The current month and the next two, which leaves weeks to fix a failure. */
const MONTHS = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const RETRY_MS = 60_000;

/**
 * Creates partitions of `usage_events` before their month begins. Events of a month without one are stored in the
 * default partition. Several instances may run this at once.
 *
 * Source: docs/reference/accounting.md#sums.
 */
@Injectable()
export class UsagePartitions implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(
    private readonly partitions: UsagePartitionsRepository,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Runs in the background; the instance accepts calls meanwhile. */
  onApplicationBootstrap(): void {
    this.working = this.keepAhead();
  }

  onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    return this.working;
  }

  /** Runs now, then daily; after a failure, one minute later. */
  private async keepAhead(): Promise<void> {
    let pauseMs = DAY_MS;
    try {
      for (const month of monthsFrom(this.clock.utcMonth(), MONTHS)) await this.partitions.create(month);
    } catch (error) {
      pauseMs = RETRY_MS;
      if (!this.isClosed) this.log.event('usage_partitions_failed', { error: String(error) });
    }
    if (this.isClosed) return;
    this.timer = setTimeout(() => {
      this.working = this.keepAhead();
    }, pauseMs).unref();
  }
}
