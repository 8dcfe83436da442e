import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { passesNightlyTime } from './retention.rules.js';
import { Retention } from './retention.service.js';

/** How often the clock is read; the work begins at most this late. */
const LOOK_EVERY_MS = 20_000;

/**
 * Starts the nightly work at 03:17 UTC on every instance; a lock lets one of them do it. It polls the shared clock, because
 * a cron timer follows the machine's own clock: it misses the time after the machine slept or its clock was set. A night
 * on which no instance runs is made up for by the next one, or by `npm run maintenance`.
 */
@Injectable()
export class NightlyRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
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

  /** Begins when it is time and the last night's work is over. Resolves once nothing is under way. */
  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    const nowMs = this.clock.nowMs();
    const isTime = passesNightlyTime(this.lookedAtMs, nowMs);
    this.lookedAtMs = nowMs;
    if (isTime && !this.stop.signal.aborted) this.running ??= this.run();
    await this.running;
  }

  /** Lets the statement under way finish; the next night does the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.retention.run(this.stop.signal);
    this.running = undefined;
  }
}
