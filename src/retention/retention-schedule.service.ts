import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { passesNightlyTime } from './retention.rules.js';
import { Retention } from './retention.service.js';

/** Interval of clock checks, and maximum delay of the start. */
const LOOK_EVERY_MS = 20_000;
/** Name of the interval in the scheduler. */
export const NIGHTLY_RETENTION = 'nightly-retention';

/**
 * Runs retention at 03:17 UTC on every instance; a lock limits it to one of them. It polls the shared clock, because a
 * cron timer follows the machine clock and misses the time after sleep or a clock change. If no instance runs at that
 * time, the next night or `npm run maintenance` catches up.
 */
@Injectable()
export class RetentionSchedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stop = new AbortController();
  private lookedAtMs = Number.POSITIVE_INFINITY;
  private running: Promise<void> | undefined;

  constructor(
    private readonly retention: Retention,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.lookedAtMs = this.clock.nowMs();
  }

  /** Starts a run when it is due and none is running. Resolves when no run is in progress. */
  @Interval(NIGHTLY_RETENTION, LOOK_EVERY_MS)
  async look(): Promise<void> {
    const nowMs = this.clock.nowMs();
    const isTime = passesNightlyTime(this.lookedAtMs, nowMs);
    this.lookedAtMs = nowMs;
    if (isTime && !this.stop.signal.aborted) this.running ??= this.run();
    await this.running;
  }

  /** Lets the current statement finish; the next night continues. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.retention.run(this.stop.signal);
    this.running = undefined;
  }
}
