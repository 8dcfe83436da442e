import type { LimitedCall, RequestCounts } from '../request-counting.js';
import { requestLimitRefusal, type WindowKind, windowIndex } from '../request-limit.rules.js';
import type { RequestCounters } from './request-counters.js';
import { type MinuteBases, type ScopeCounts, UNKNOWN, type WindowCount } from './scope-counts.js';

/** Whether a window has room for one more call. */
export type HasRoom = (window: WindowCount, limit: number) => boolean;

/** A window with its scope and its limit. */
export interface LimitedWindow {
  readonly scope: ScopeCounts;
  readonly kind: WindowKind;
  readonly window: WindowCount;
  readonly limit: number;
}

/** A day window whose base must be read, with its scope. */
export interface UnloadedDay {
  readonly scope: ScopeCounts;
  readonly window: WindowCount;
}

export interface CallWindowsOptions {
  readonly counters: RequestCounters;
  readonly minuteBases: MinuteBases;
  /**
   * Whether the application may have room for one more call. Without room, or while that is unknown, no counters are
   * created for an unknown user: fabricated users cost nothing once the application's limit is reached.
   */
  readonly mayHaveRoom: HasRoom;
  /** True for checks that do not count: then counters of an unknown user are temporary. */
  readonly isCheck?: boolean;
}

/**
 * The windows that a call counts in, at one instant. Synchronous callers reuse one object for all calls, so that
 * counting does not allocate.
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
  private temporaryUser: ScopeCounts | undefined;

  constructor(private readonly options: CallWindowsOptions) {}

  /** The counters of the calling user are temporary. */
  get isUserTemporary(): boolean {
    return this.user !== undefined && this.user === this.temporaryUser;
  }

  /**
   * Finds the windows of a call. A scope without a limit of a kind has no window of that kind.
   *
   * @throws service_unavailable the maximum number of scopes is reached.
   */
  find(call: LimitedCall, nowMs: number): this {
    const { counters, minuteBases } = this.options;
    const minute = windowIndex('minute', nowMs);
    const day = windowIndex('day', nowMs);
    const { user, app } = call;
    this.call = call;
    this.nowMs = nowMs;
    this.app = app === undefined ? undefined : counters.ofApp(call, minute);
    this.appMinute = app?.perMinute == null ? undefined : this.app?.inMinute(minute, minuteBases);
    this.appDay = app?.perDay == null ? undefined : this.app?.onDay(day);
    this.user = this.userOf(call, minute);
    this.userMinute = user?.perMinute == null ? undefined : this.user?.inMinute(minute, minuteBases);
    this.userDay = user?.perDay == null ? undefined : this.user?.onDay(day);
    return this;
  }

  /** The windows of the user that limit the call, in the order of refusal. */
  ofUser(): LimitedWindow[] {
    return limitedWindows(this.user, this.call?.user, this.userMinute, this.userDay);
  }

  /** Likewise those of the application, which refuse after the user's. */
  ofApp(): LimitedWindow[] {
    return limitedWindows(this.app, this.call?.app, this.appMinute, this.appDay);
  }

  /** A day window whose base is unknown, or older than the last configuration change; the application's first. */
  unloadedDay(): UnloadedDay | undefined {
    return unloadedDayOf(this.app, this.appDay) ?? unloadedDayOf(this.user, this.userDay);
  }

  /** Whether the base of a day must be read again, because the application may have changed since. */
  hasOutdatedDay(): boolean {
    return isOutdated(this.user, this.userDay) || isOutdated(this.app, this.appDay);
  }

  /**
   * Refuses the call when a window has no room: user before application, minute before day. For a user without counters
   * only the application's windows are checked.
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

  /** Counts the call, which this instance admitted, in its windows. */
  countOwn(): void {
    this.userMinute?.countOwn();
    this.userDay?.countOwn();
    this.appMinute?.countOwn();
    this.appDay?.countOwn();
  }

  private userOf(call: LimitedCall, minute: number): ScopeCounts | undefined {
    const { user, userId, app } = call;
    if (user === undefined || userId === null) return undefined;
    const { counters, mayHaveRoom, isCheck } = this.options;
    const known = counters.findUser(call, userId, minute);
    if (known !== undefined) return known;
    if (isCheck) {
      this.temporaryUser ??= counters.temporaryUser(call, userId, minute);
      return this.temporaryUser;
    }
    const isOpen =
      (this.appMinute === undefined || mayHaveRoom(this.appMinute, app?.perMinute ?? 0)) &&
      (this.appDay === undefined || mayHaveRoom(this.appDay, app?.perDay ?? 0));
    return isOpen ? counters.ofUser(call, userId, minute) : undefined;
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

function limitedWindows(
  scope: ScopeCounts | undefined,
  limits: RequestCounts | undefined,
  minute: WindowCount | undefined,
  day: WindowCount | undefined,
): LimitedWindow[] {
  const windows: LimitedWindow[] = [];
  if (scope === undefined || limits === undefined) return windows;
  const { perMinute, perDay } = limits;
  if (minute !== undefined && perMinute !== null)
    windows.push({ scope, kind: 'minute', window: minute, limit: perMinute });
  if (day !== undefined && perDay !== null) windows.push({ scope, kind: 'day', window: day, limit: perDay });
  return windows;
}

function unloadedDayOf(scope: ScopeCounts | undefined, window: WindowCount | undefined): UnloadedDay | undefined {
  if (scope === undefined || window === undefined) return undefined;
  const isKnown = window.base !== UNKNOWN && !isOutdated(scope, window);
  return isKnown ? undefined : { scope, window };
}

function isOutdated(scope: ScopeCounts | undefined, window: WindowCount | undefined): boolean {
  return window !== undefined && window.checkedAt !== scope?.app.changes;
}
