import type { Clock } from '../../../common/clock.js';
import { type MaybePromise, whenResolved } from '../../../common/maybe-promise.js';
import { CallWindows, type HasRoom } from '../counts/call-windows.js';
import type { DayBases } from '../counts/day-bases.js';
import type { RequestCounters } from '../counts/request-counters.js';
import { type MinuteBases, UNKNOWN } from '../counts/scope-counts.js';
import type { LimitedCall, RequestCounting } from '../request-counting.js';
import { shareOf } from '../request-limit.rules.js';

export interface LocalCountingOptions {
  readonly clock: Clock;
  readonly counters: RequestCounters;
  readonly dayBases: DayBases;
  readonly minuteBases: MinuteBases;
  /** Number of instances that share the rest of each limit, and the rank of this one, from 0. */
  readonly instances: number;
  readonly rank: number;
  /** Throws when this backend must not count any more; absent when it always may. */
  readonly requireCurrent?: () => void;
}

/**
 * Counts in this process's memory: alone, or within this instance's share of every limit. With known bases it checks
 * and counts in one synchronous step.
 */
export class LocalCounting implements RequestCounting {
  private readonly windows: CallWindows;
  private readonly hasRoom: HasRoom;

  constructor(private readonly options: LocalCountingOptions) {
    const { counters, minuteBases, instances, rank } = options;
    this.hasRoom = instances === 1 ? hasRoomAlone : roomInShare(instances, rank);
    const mayHaveRoom: HasRoom = (window, limit) => window.base !== UNKNOWN && this.hasRoom(window, limit);
    this.windows = new CallWindows({ counters, minuteBases, mayHaveRoom });
  }

  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable. */
  admit(call: LimitedCall): MaybePromise<void> {
    const windows = this.windows.find(call, this.options.clock.nowMs());
    const unloadedDay = windows.unloadedDay();
    // Meanwhile other calls may have been counted and the minute may have ended, so the check starts again.
    if (unloadedDay !== undefined) return whenResolved(this.options.dayBases.load(unloadedDay), () => this.admit(call));
    windows.requireRoom(this.hasRoom);
    this.options.requireCurrent?.();
    windows.countOwn();
  }

  /**
   * Checks like {@link admit} without counting. A bounded number of unknown users per second is looked up; others pass.
   */
  require(call: LimitedCall): MaybePromise<void> {
    const windows = this.lookAt(call);
    const unloadedDay = windows.unloadedDay();
    if (unloadedDay && windows.isUserTemporary && !unloadedDay.scope.app.mayLookUp(windows.nowMs)) return;
    return whenResolved(unloadedDay && this.options.dayBases.load(unloadedDay), () =>
      windows.requireRoom(this.hasRoom),
    );
  }

  /** Requests of the user's UTC day, as known to this instance; 0 when they are not counted. */
  countToday(call: LimitedCall): MaybePromise<number> {
    const windows = this.lookAt(call);
    const { userDay } = windows;
    const unloadedDay = windows.unloadedDay();
    return whenResolved(unloadedDay && this.options.dayBases.load(unloadedDay), () => userDay?.count ?? 0);
  }

  /** Windows for a check; counters of an unknown user are temporary. */
  private lookAt(call: LimitedCall): CallWindows {
    const { clock, counters, minuteBases } = this.options;
    const windows = new CallWindows({ counters, minuteBases, mayHaveRoom: this.hasRoom, isCheck: true });
    return windows.find(call, clock.nowMs());
  }
}

const hasRoomAlone: HasRoom = (window, limit) => window.count < limit;

/** Whether the share of an instance has room. Calls in the base that may be its own count against its share alone. */
export function roomInShare(instances: number, rank: number): HasRoom {
  return ({ own, unsureOwn, base }, limit) => own + unsureOwn < shareOf(limit - base + unsureOwn, instances, rank);
}
