import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { passesNightlyTime } from './retention.rules.js';
import { Retention } from './retention.service.js';

/** How often the clock is looked at; the work begins at most this late. */
const LOOK_EVERY_MS = 20_000;

/**
 * Starts the nightly work at 03:17 UTC. It looks at the clock again and again instead of sleeping until the time, because
 * a sleep is measured by another clock: it would miss the time after the machine slept, or its clock was set.
 *
 * Every instance does so; the lock lets one do the work. A night on which none runs is made up for by the next one, or by
 * `npm run maintenance`. Source: decision 7.2.
 */
@Injectable()
export class NightlyRetention implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stop = new AbortController();
  private lookedAtMs = Number.POSITIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly retention: Retention,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.lookedAtMs = this.clock.nowMs();
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /** Begins when it is time and the last night's work is over. Returns once nothing is under way. */
  async look(): Promise<void> {
    const nowMs = this.clock.nowMs();
    const isTime = passesNightlyTime(this.lookedAtMs, nowMs);
    this.lookedAtMs = nowMs;
    if (isTime && !this.stop.signal.aborted) this.running ??= this.run();
    await this.running;
  }

  /** Lets the statement under way finish; the rest is for the next night. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.stop.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.retention.run(this.stop.signal);
    this.running = undefined;
  }
}
