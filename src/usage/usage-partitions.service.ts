import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { monthsFrom } from './usage-months.rules.js';

/** The current month and the next two: weeks in which nobody needs to succeed. */
const MONTHS = 3;
const DAY_MS = 24 * 60 * 60 * 1_000;
const RETRY_MS = 60_000;

/**
 * Has a partition ready for events before their month begins; what comes without one is kept all the same, among
 * events of other times. Any number of instances may do so at once.
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

  /** Does not wait: calls are taken meanwhile. */
  onApplicationBootstrap(): void {
    this.working = this.keepAhead();
  }

  onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    return this.working;
  }

  /** Now, then every day; after a failure, a minute later. */
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
