import type { Clock } from '../../common/clock.js';
import type { RequestCounters } from '../counts/request-counters.js';
import { windowIndex } from '../request-limit.rules.js';
import { type UntoldWindow, untoldWindows } from './handed-counts.rules.js';

/** Scopes that leave together. */
const BATCH_SCOPES = 5_000;
/** How often it is looked who may leave: a look is at all scopes. */
const LOOK_EVERY_MS = 1_000;

/** Stores what was counted in windows. @returns false when that is not this instance's to tell any more. */
export type TellWindows = (windows: readonly UntoldWindow[]) => Promise<boolean>;

/**
 * Keeps the number of scopes that are counted bounded: when there are many, those that nobody uses leave. What they have
 * used of the day is stored before, so that whoever counts for them again goes on from there.
 */
export class ScopeRoom {
  private lookedAtMs = Number.NEGATIVE_INFINITY;
  private making: Promise<void> | undefined;

  constructor(
    private readonly counters: RequestCounters,
    private readonly clock: Clock,
  ) {}

  /** Lets idle scopes leave where there are many. @throws in the promise what `tell` throws; who has not left stays. */
  make(tell: TellWindows): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (!this.counters.isCrowded || nowMs - this.lookedAtMs < LOOK_EVERY_MS) return Promise.resolve();
    this.lookedAtMs = nowMs;
    this.making ??= this.letGo(tell).finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async letGo(tell: TellWindows): Promise<void> {
    const idle = this.counters.idle(this.minute());
    for (let from = 0; from < idle.length; from += BATCH_SCOPES) {
      const batch = idle.slice(from, from + BATCH_SCOPES);
      const untold = untoldWindows(batch, this.clock.nowMs());
      if (untold.length > 0 && !(await tell(untold))) return;
      // A window that has been called in meanwhile has something to tell again, and its scope is not idle.
      for (const { window, index, own } of untold) if (window.index === index) window.told = own;
      this.counters.drop(batch, this.minute());
    }
  }

  private minute(): number {
    return windowIndex('minute', this.clock.nowMs());
  }
}
