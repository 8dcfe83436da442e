import type { Clock } from '../../../common/clock.js';
import { type Ready, whenReady } from '../../../common/when-ready.js';
import { CallWindows } from '../counts/call-windows.js';
import type { DayBases } from '../counts/day-bases.js';
import type { RequestCounters } from '../counts/request-counters.js';
import type { MinuteBases, WindowCount } from '../counts/scope-counts.js';
import type { LimitedCall } from '../limited-call.js';
import { shareOf } from '../request-limit.rules.js';
import type { RequestCounting } from './request-counting.js';

/** What one place that counts needs to know. */
export interface LocalCountingOptions {
  readonly clock: Clock;
  readonly counters: RequestCounters;
  readonly dayBases: DayBases;
  readonly minuteBases: MinuteBases;
  /** How many instances share what remains of each limit, and which of them this one is. */
  readonly instances: number;
  readonly rank: number;
  /** Throws where this place may count no longer; absent where it always may. */
  readonly requireCurrent?: () => void;
}

/**
 * Counts in this process's memory: alone, or within this instance's share of every limit. What is at hand is decided
 * and counted at once, in one synchronous step.
 */
export class LocalCounting implements RequestCounting {
  private readonly windows = new CallWindows();
  private readonly hasRoom: (window: WindowCount, limit: number) => boolean;

  constructor(private readonly options: LocalCountingOptions) {
    const { instances, rank } = options;
    this.hasRoom =
      instances === 1
        ? (window, limit) => window.count < limit
        : (window, limit) => window.own < shareOf(limit - window.base, instances, rank);
  }

  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable. */
  admit(call: LimitedCall): Ready<void> {
    const { clock, counters, minuteBases, dayBases } = this.options;
    const windows = this.windows.find(call, clock.nowMs(), counters, minuteBases);
    const openDay = windows.openDay();
    // Others may have been counted meanwhile, and the minute may have ended: everything is looked at again.
    if (openDay !== undefined) return whenReady(dayBases.ask(openDay), () => this.admit(call));
    windows.requireRoom(this.hasRoom);
    this.options.requireCurrent?.();
    windows.countOwn();
  }

  /** As {@link admit}, and counts nothing. */
  require(call: LimitedCall): Ready<void> {
    const { clock, counters, minuteBases, dayBases } = this.options;
    const windows = this.windows.find(call, clock.nowMs(), counters, minuteBases);
    const openDay = windows.openDay();
    if (openDay !== undefined) return whenReady(dayBases.ask(openDay), () => this.require(call));
    windows.requireRoom(this.hasRoom);
  }

  /** Requests of the user's UTC day that this instance knows of; 0 where they are not counted. */
  countToday(call: LimitedCall): Ready<number> {
    const { clock, counters, minuteBases, dayBases } = this.options;
    const windows = this.windows.find(call, clock.nowMs(), counters, minuteBases);
    const openDay = windows.openDay();
    if (openDay !== undefined) return whenReady(dayBases.ask(openDay), () => this.countToday(call));
    return windows.userDay?.count ?? 0;
  }
}
