import type { LimitedCall } from '../limited-call.js';
import { requestLimitRefusal, type WindowKind, windowIndex } from '../request-limit.rules.js';
import type { RequestCounters } from './request-counters.js';
import { type MinuteBases, type ScopeCounts, UNKNOWN, type WindowCount } from './scope-counts.js';

/** Whether one more call fits into a window. */
export type HasRoom = (window: WindowCount, limit: number) => boolean;

/** A window, whose it is, and how many requests may be made in it. */
export interface LimitedWindow {
  readonly scope: ScopeCounts;
  readonly kind: WindowKind;
  readonly window: WindowCount;
  readonly limit: number;
}

/** A day whose count has to be asked for, and whose it is. */
export interface OpenDay {
  readonly scope: ScopeCounts;
  readonly window: WindowCount;
}

/**
 * The windows a call is counted in, found once for one instant. An object of this kind is used again for the next call
 * wherever nothing is waited for, so that counting allocates nothing.
 */
export class CallWindows {
  nowMs = 0;
  userMinute: WindowCount | undefined;
  userDay: WindowCount | undefined;
  appMinute: WindowCount | undefined;
  appDay: WindowCount | undefined;
  private user: ScopeCounts | undefined;
  private app: ScopeCounts | undefined;
  private call: LimitedCall | undefined;

  /** Finds them. A scope without a limit of a kind is not counted in that kind. */
  find(call: LimitedCall, nowMs: number, counters: RequestCounters, minuteBases: MinuteBases): this {
    const minute = windowIndex('minute', nowMs);
    const day = windowIndex('day', nowMs);
    const { user, app, userId } = call;
    this.call = call;
    this.nowMs = nowMs;
    this.user = user === undefined || userId === null ? undefined : counters.ofUser(call, userId, minute);
    this.app = app === undefined ? undefined : counters.ofApp(call, minute);
    this.userMinute = user?.perMinute == null ? undefined : this.user?.inMinute(minute, minuteBases);
    this.userDay = user?.perDay == null ? undefined : this.user?.onDay(day);
    this.appMinute = app?.perMinute == null ? undefined : this.app?.inMinute(minute, minuteBases);
    this.appDay = app?.perDay == null ? undefined : this.app?.onDay(day);
    return this;
  }

  /** Every window that limits the call, in the order in which they refuse. */
  limits(): LimitedWindow[] {
    const { user, app } = this.call ?? {};
    const all = [
      limited(this.user, this.userMinute, user?.perMinute, 'minute'),
      limited(this.user, this.userDay, user?.perDay, 'day'),
      limited(this.app, this.appMinute, app?.perMinute, 'minute'),
      limited(this.app, this.appDay, app?.perDay, 'day'),
    ];
    return all.filter((one) => one !== undefined);
  }

  /** A day of it whose count is not known, or not since the application was changed. */
  openDay(): OpenDay | undefined {
    return openDayOf(this.user, this.userDay) ?? openDayOf(this.app, this.appDay);
  }

  /** Whether a day's count has to be asked for again, because the application may have been changed since. */
  hasOutdatedDay(): boolean {
    return isOutdated(this.user, this.userDay) || isOutdated(this.app, this.appDay);
  }

  /**
   * Refuses the call where a window has no room: user before application, minute before day.
   *
   * @throws app_rate_limited.
   */
  requireRoom(hasRoom: HasRoom): void {
    const { user, app } = this.call ?? {};
    this.requireIn(hasRoom, this.userMinute, user?.perMinute, 'user', 'minute');
    this.requireIn(hasRoom, this.userDay, user?.perDay, 'user', 'day');
    this.requireIn(hasRoom, this.appMinute, app?.perMinute, 'app', 'minute');
    this.requireIn(hasRoom, this.appDay, app?.perDay, 'app', 'day');
  }

  /** This instance admitted the call. */
  countOwn(): void {
    this.userMinute?.countOwn();
    this.userDay?.countOwn();
    this.appMinute?.countOwn();
    this.appDay?.countOwn();
  }

  private requireIn(
    hasRoom: HasRoom,
    window: WindowCount | undefined,
    limit: number | null | undefined,
    scope: 'user' | 'app',
    kind: 'minute' | 'day',
  ): void {
    if (window === undefined || limit == null || hasRoom(window, limit)) return;
    throw requestLimitRefusal(scope, kind, { limit, index: window.index, nowMs: this.nowMs });
  }
}

function limited(
  scope: ScopeCounts | undefined,
  window: WindowCount | undefined,
  limit: number | null | undefined,
  kind: WindowKind,
): LimitedWindow | undefined {
  if (scope === undefined || window === undefined || limit == null) return undefined;
  return { scope, kind, window, limit };
}

function openDayOf(scope: ScopeCounts | undefined, window: WindowCount | undefined): OpenDay | undefined {
  if (scope === undefined || window === undefined) return undefined;
  const isKnown = window.base !== UNKNOWN && !isOutdated(scope, window);
  return isKnown ? undefined : { scope, window };
}

function isOutdated(scope: ScopeCounts | undefined, window: WindowCount | undefined): boolean {
  return window !== undefined && window.checkedAt !== scope?.app.changes;
}
