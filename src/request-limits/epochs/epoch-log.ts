import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { EpochView } from './limit-epochs.repository.js';

/** Says in the log where this instance counts: once an epoch, and only where that is worth a line. */
export class EpochLog {
  private epoch = 0;
  private degradedSinceMs: number | undefined;
  private hasFailed = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** Requests are counted without Redis. */
  get isDegraded(): boolean {
    return this.degradedSinceMs !== undefined;
  }

  /** This instance counts in an epoch. */
  countsIn({ epoch, countedIn, reason, members }: EpochView): void {
    if (epoch === this.epoch) return;
    // What a start finds was put together then, and has been told by those who did.
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

  /** The others could not be agreed with; it is tried again. One line an outage. */
  failed(error: string): void {
    if (!this.hasFailed) this.log.event('limits_agreement_failed', { error });
    this.hasFailed = true;
  }

  /** They could. */
  worked(): void {
    this.hasFailed = false;
  }
}
