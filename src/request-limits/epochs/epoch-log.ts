import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { EpochView } from './limit-epochs.repository.js';

/** Logs changes of the place of counting, at most once per epoch. */
export class EpochLog {
  private epoch = 0;
  private degradedSinceMs: number | undefined;
  private hasFailed = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** Whether requests are counted without Redis. */
  get isDegraded(): boolean {
    return this.degradedSinceMs !== undefined;
  }

  /** Logs that this instance counts in an epoch, if that is a change. */
  countsIn({ epoch, countedIn, reason, members }: EpochView): void {
    if (epoch === this.epoch) return;
    // The instances that agreed on the epoch before this start have logged it.
    const isFound = this.epoch === 0;
    this.epoch = epoch;
    if (countedIn === 'instances') {
      this.degradedSinceMs ??= this.clock.monotonicMs();
      this.log.event('limits_degraded', { epoch, reason, instances: members.length });
    } else if (this.degradedSinceMs !== undefined) {
      const degradedMs = Math.round(this.clock.monotonicMs() - this.degradedSinceMs);
      this.degradedSinceMs = undefined;
      this.log.event('limits_restored', { epoch, degradedMs });
    } else if (!isFound && (reason === 'redis_forgot' || reason === 'instance_returned')) {
      this.log.event('limits_recounted', { epoch, reason });
    }
  }

  /** Logs a failed agreement, once per outage; it is retried. */
  failed(error: string): void {
    if (!this.hasFailed) this.log.event('limits_agreement_failed', { error });
    this.hasFailed = true;
  }

  /** The agreement succeeded, so the next failure is logged again. */
  worked(): void {
    this.hasFailed = false;
  }
}
