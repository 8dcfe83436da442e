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

/** What finding the windows of calls needs. */
export interface CallWindowsOptions {
  readonly counters: RequestCounters;
  readonly minuteBases: MinuteBases;
  /**
   * Whether the application may have room for one more call. Where it has none, or that is not known yet, an unknown
   * user's counts are not made: whoever makes up users costs nothing once the application is full.
   */
  readonly mayHaveRoom: HasRoom;
  /** True where calls are only looked at: then an unknown user's counts are made, and kept nowhere. */
  readonly looksOnly?: boolean;
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
  private looseUser: ScopeCounts | undefined;

  constructor(private readonly options: CallWindowsOptions) {}

  /** Nothing is known of the calling user, and nothing will be kept. */
  get isUserLoose(): boolean {
    return this.user !== undefined && this.user === this.looseUser;
  }

  /**
   * Finds them. A scope without a limit of a kind is not counted in that kind.
   *
   * @throws service_unavailable it would be one scope too many.
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

  /** A day of it whose count is not known, or not since the application was changed; the application's first. */
  openDay(): OpenDay | undefined {
    return openDayOf(this.app, this.appDay) ?? openDayOf(this.user, this.userDay);
  }

  /** Whether a day's count has to be asked for again, because the application may have been changed since. */
  hasOutdatedDay(): boolean {
    return isOutdated(this.user, this.userDay) || isOutdated(this.app, this.appDay);
  }

  /**
   * Refuses the call where a window has no room: user before application, minute before day. Of a user nobody knows
   * here only the application is asked.
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

  private userOf(call: LimitedCall, minute: number): ScopeCounts | undefined {
    const { user, userId, app } = call;
    if (user === undefined || userId === null) return undefined;
    const { counters, mayHaveRoom, looksOnly } = this.options;
    const known = counters.findUser(call, userId, minute);
    if (known !== undefined) return known;
    if (looksOnly) {
      this.looseUser ??= counters.looseUser(call, userId, minute);
      return this.looseUser;
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
