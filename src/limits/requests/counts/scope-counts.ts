import { digestOf } from '../backends/counter-keys.rules.js';
import type { WindowKind } from '../request-limit.rules.js';

/** An unknown count. */
export const UNKNOWN = -1;

/** The count of a minute before this instance's own calls; infinite when it is unknown. */
export type MinuteBases = (appId: string, userId: string, minute: number) => number;

/** Usage of one window by one scope, as known to this instance. */
export class WindowCount {
  /** Window number; -1: no window yet. */
  index = -1;
  /** Calls admitted by this instance. */
  own = 0;
  /** The part of `own` that is stored in Postgres. */
  reported = 0;
  /** Upper bound of this instance's own calls in `base`, after an eviction. */
  unsureOwn = 0;
  /** Calls of all instances, as known to this one; never falls within a window. */
  count = 0;
  /** The Redis counter after this instance last counted there; 0 before. */
  seen = 0;
  /** The count before this instance's own calls, or `UNKNOWN`. */
  base = UNKNOWN;
  /** The application's `changes` at which `base` was read. */
  checkedAt = 0;
  /** The running query for `base`. */
  loading: Promise<void> | undefined;

  /** Starts another window. @param base `UNKNOWN` when it must be read. */
  begin(index: number, base: number, checkedAt: number): void {
    this.index = index;
    this.own = 0;
    this.reported = 0;
    this.unsureOwn = 0;
    this.seen = 0;
    this.base = base;
    this.count = Math.max(0, base);
    this.checkedAt = checkedAt;
    this.loading = undefined;
  }

  /** Counts a call that this instance admitted. */
  countOwn(): void {
    this.own++;
    this.count++;
  }
}

/**
 * Usage of the minutes and days of a user or an application. Two windows of each kind are kept, so that counts survive
 * a clock that is set back by less than a window.
 */
export class ScopeCounts {
  /** Minute of the latest call. */
  usedIn = -1;
  private minute = new WindowCount();
  private otherMinute = new WindowCount();
  private day = new WindowCount();
  private otherDay = new WindowCount();
  private knownDigest: string | undefined;

  constructor(
    readonly app: AppCounts,
    readonly organizationId: string,
    /** Empty for the whole application. */
    readonly userId: string,
  ) {}

  /** Pseudonym of the user: 43 characters of base64url; empty for the whole application. */
  get digest(): string {
    this.knownDigest ??= digestOf(this.userId);
    return this.knownDigest;
  }

  inMinute(index: number, baseOf: MinuteBases): WindowCount {
    if (this.minute.index === index) return this.minute;
    [this.minute, this.otherMinute] = [this.otherMinute, this.minute];
    if (this.minute.index !== index) this.minute.begin(index, baseOf(this.app.appId, this.userId, index), 0);
    return this.minute;
  }

  onDay(index: number): WindowCount {
    if (this.day.index === index) return this.day;
    [this.day, this.otherDay] = [this.otherDay, this.day];
    // The pending query still refers to its window object, so another day needs a new one.
    if (this.day.index !== index) {
      if (this.day.loading !== undefined) this.day = new WindowCount();
      this.day.begin(index, UNKNOWN, this.app.changes);
    }
    return this.day;
  }

  /** Every kept window with its kind. */
  *windows(): Iterable<readonly [WindowKind, WindowCount]> {
    yield ['minute', this.minute];
    yield ['minute', this.otherMinute];
    yield ['day', this.day];
    yield ['day', this.otherDay];
  }
}

/** Maximum queries for recorded requests of unknown users, per application and second. */
const MAX_LOOKUPS_PER_SECOND = 10;

/** Counters of an application and of its users. */
export class AppCounts {
  /** Created when calls of the application are first counted. */
  own: ScopeCounts | undefined;
  readonly users = new Map<string, ScopeCounts>();
  /** Number of possible configuration changes: a limit may have been enabled and must count recorded requests. */
  changes = 0;
  /** Mark of its counters in Redis; 0 until this instance has seen it. */
  mark = 0;
  /** UTC day of the latest call. */
  usedOn = -1;

  private lookupSecond = -1;
  private lookups = 0;

  constructor(readonly appId: string) {}

  /**
   * Whether to query the recorded requests of an unknown user whose call is refused anyway. The rate limit bounds the
   * queries that fabricated users can cause.
   */
  mayLookUp(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.lookupSecond) [this.lookupSecond, this.lookups] = [second, 0];
    return ++this.lookups <= MAX_LOOKUPS_PER_SECOND;
  }
}
