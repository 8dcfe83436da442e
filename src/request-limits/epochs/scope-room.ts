import type { Clock } from '../../common/clock.js';
import type { RequestCounters } from '../counts/request-counters.js';
import { windowIndex } from '../request-limit.rules.js';
import { type UntoldWindow, untoldWindows } from './handed-counts.rules.js';

/** Scopes evicted per batch. */
const BATCH_SCOPES = 5_000;
/** Minimum interval between scans, which visit every scope. */
const LOOK_EVERY_MS = 1_000;

/** Stores the counts of windows. @returns false when the epoch of the counts is over. */
export type TellWindows = (windows: readonly UntoldWindow[]) => Promise<boolean>;

/**
 * Bounds the number of counted scopes by evicting idle ones. Their counts of the day are stored first, so that a later
 * counter of the scope continues from them.
 */
export class ScopeRoom {
  private lookedAtMs = Number.NEGATIVE_INFINITY;
  private making: Promise<void> | undefined;

  constructor(
    private readonly counters: RequestCounters,
    private readonly clock: Clock,
  ) {}

  /** Evicts idle scopes when crowded. @throws in the promise any error of `tell`; scopes not evicted yet stay. */
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
      // A window with calls since the snapshot has unstored calls again, and its scope is not idle.
      for (const { window, index, own } of untold) if (window.index === index) window.told = own;
      this.counters.drop(batch, this.minute());
    }
  }

  private minute(): number {
    return windowIndex('minute', this.clock.nowMs());
  }
}
