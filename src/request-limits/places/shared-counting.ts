import type { Clock } from '../../common/clock.js';
import type { MaybePromise } from '../../common/maybe-promise.js';
import type { LimitEpochs } from '../epochs/limit-epochs.service.js';
import { EpochOver, type LimitedCall, MAX_WAIT_MS, type RequestCounting } from '../request-counting.js';
import { countsUnknown } from '../request-limit.rules.js';

/**
 * Counts in the place that all instances have agreed on; when it changes meanwhile, the call is counted in the new one.
 */
export class SharedCounting implements RequestCounting {
  /** @param realTime measures the maximum wait of a call. */
  constructor(
    private readonly epochs: LimitEpochs,
    private readonly realTime: Clock,
  ) {}

  admit(call: LimitedCall): Promise<void> {
    return this.decide((counting) => counting.admit(call));
  }

  require(call: LimitedCall): Promise<void> {
    return this.decide((counting) => counting.require(call));
  }

  countToday(call: LimitedCall): Promise<number> {
    return this.decide((counting) => counting.countToday(call));
  }

  private async decide<T>(ask: (counting: RequestCounting) => MaybePromise<T>): Promise<T> {
    const startedAtMs = this.realTime.monotonicMs();
    for (;;) {
      const { counting } = this.epochs.place ?? (await this.epochs.next());
      try {
        return await ask(counting);
      } catch (error) {
        if (!(error instanceof EpochOver)) throw error;
      }
      if (this.realTime.monotonicMs() - startedAtMs > MAX_WAIT_MS) throw countsUnknown();
    }
  }
}
