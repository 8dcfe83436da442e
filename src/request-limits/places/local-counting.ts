import type { Clock } from '../../common/clock.js';
import { type Ready, whenReady } from '../../common/when-ready.js';
import { CallWindows, type HasRoom } from '../counts/call-windows.js';
import type { DayBases } from '../counts/day-bases.js';
import type { RequestCounters } from '../counts/request-counters.js';
import { type MinuteBases, UNKNOWN } from '../counts/scope-counts.js';
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
  private readonly windows: CallWindows;
  private readonly hasRoom: HasRoom;

  constructor(private readonly options: LocalCountingOptions) {
    const { counters, minuteBases, instances, rank } = options;
    this.hasRoom = instances === 1 ? hasRoomAlone : roomInShare(instances, rank);
    const mayHaveRoom: HasRoom = (window, limit) => window.base !== UNKNOWN && this.hasRoom(window, limit);
    this.windows = new CallWindows({ counters, minuteBases, mayHaveRoom });
  }

  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable. */
  admit(call: LimitedCall): Ready<void> {
    const windows = this.windows.find(call, this.options.clock.nowMs());
    const openDay = windows.openDay();
    // Others may have been counted meanwhile, and the minute may have ended: everything is looked at again.
    if (openDay !== undefined) return whenReady(this.options.dayBases.ask(openDay), () => this.admit(call));
    windows.requireRoom(this.hasRoom);
    this.options.requireCurrent?.();
    windows.countOwn();
  }

  /** As {@link admit}, and counts nothing. Of unknown users some a second are asked for; others are beyond no limit. */
  require(call: LimitedCall): Ready<void> {
    const windows = this.lookAt(call);
    const openDay = windows.openDay();
    if (openDay && windows.isUserLoose && !openDay.scope.app.mayLookUp(windows.nowMs)) return;
    return whenReady(openDay && this.options.dayBases.ask(openDay), () => windows.requireRoom(this.hasRoom));
  }

  /** Requests of the user's UTC day that this instance knows of; 0 where they are not counted. */
  countToday(call: LimitedCall): Ready<number> {
    const windows = this.lookAt(call);
    const { userDay } = windows;
    const openDay = windows.openDay();
    return whenReady(openDay && this.options.dayBases.ask(openDay), () => userDay?.count ?? 0);
  }

  /** Windows that are only looked at: those of a user who is not known are not kept. */
  private lookAt(call: LimitedCall): CallWindows {
    const { clock, counters, minuteBases } = this.options;
    const windows = new CallWindows({ counters, minuteBases, mayHaveRoom: this.hasRoom, looksOnly: true });
    return windows.find(call, clock.nowMs());
  }
}

const hasRoomAlone: HasRoom = (window, limit) => window.count < limit;

/** Whether one more call fits into the share of an instance; what may be its own of the base counts against that alone. */
export function roomInShare(instances: number, rank: number): HasRoom {
  return ({ own, unsureOwn, base }, limit) => own + unsureOwn < shareOf(limit - base + unsureOwn, instances, rank);
}
