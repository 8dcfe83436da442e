import { digestOf } from '../places/counter-keys.rules.js';
import type { WindowKind } from '../request-limit.rules.js';

/** A count that is not known. */
export const UNKNOWN = -1;

/** What had been counted in a minute before this instance's own calls; infinite where nobody can tell. */
export type MinuteBases = (appId: string, userId: string, minute: number) => number;

/** What one scope has used of one window, as this instance knows it. */
export class WindowCount {
  /** The window's number; none yet. */
  index = -1;
  /** Calls that this instance admitted. */
  own = 0;
  /** How many of those Postgres has been told of. */
  told = 0;
  /** Calls of `base` that may be this instance's own: it has forgotten how many were. */
  unsureOwn = 0;
  /** Calls of all instances, as far as this one knows: it only grows. */
  count = 0;
  /** What the counter in Redis stood at when this instance last counted there; 0 where it has not. */
  seen = 0;
  /** What had been counted before this instance's own, or `UNKNOWN`. */
  base = UNKNOWN;
  /** The state of the application's configuration in which `base` was asked for. */
  checkedAt = 0;
  /** The question for `base`, while it is open. */
  asking: Promise<void> | undefined;

  /** Begins another window. @param base `UNKNOWN` where it must be asked for. */
  begin(index: number, base: number, checkedAt: number): void {
    this.index = index;
    this.own = 0;
    this.told = 0;
    this.unsureOwn = 0;
    this.seen = 0;
    this.base = base;
    this.count = Math.max(0, base);
    this.checkedAt = checkedAt;
    this.asking = undefined;
  }

  /** This instance admitted a call. */
  countOwn(): void {
    this.own++;
    this.count++;
  }
}

/**
 * What a user, or an application, has used of its minute and its day. Two windows of each are kept, so that a clock
 * that is set back by less than a window finds what was counted.
 */
export class ScopeCounts {
  /** The minute of the latest call. */
  usedIn = -1;
  private minute = new WindowCount();
  private otherMinute = new WindowCount();
  private day = new WindowCount();
  private otherDay = new WindowCount();
  private knownDigest: string | undefined;

  constructor(
    readonly app: AppCounts,
    readonly organizationId: string,
    /** Empty for the application itself. */
    readonly userId: string,
  ) {}

  /** Stands for the user where no name may be read: 43 characters of base64url; empty for the application itself. */
  get digest(): string {
    this.knownDigest ??= digestOf(this.userId);
    return this.knownDigest;
  }

  /** The count of a minute. */
  inMinute(index: number, baseOf: MinuteBases): WindowCount {
    if (this.minute.index === index) return this.minute;
    [this.minute, this.otherMinute] = [this.otherMinute, this.minute];
    if (this.minute.index !== index) this.minute.begin(index, baseOf(this.app.appId, this.userId, index), 0);
    return this.minute;
  }

  /** The count of a UTC day. */
  onDay(index: number): WindowCount {
    if (this.day.index === index) return this.day;
    [this.day, this.otherDay] = [this.otherDay, this.day];
    // A window object that is still asked about must not answer for another day.
    if (this.day.index !== index) {
      if (this.day.asking !== undefined) this.day = new WindowCount();
      this.day.begin(index, UNKNOWN, this.app.changes);
    }
    return this.day;
  }

  /** Every window that is kept, with its kind. */
  *windows(): Iterable<readonly [WindowKind, WindowCount]> {
    yield ['minute', this.minute];
    yield ['minute', this.otherMinute];
    yield ['day', this.day];
    yield ['day', this.otherDay];
  }
}

/** Users nobody knows whose recorded requests may be asked for, of one application in one second. */
const LOOKS_A_SECOND = 10;

/** The counts of an application and of its users. */
export class AppCounts {
  /** Made when calls of the application are first counted. */
  own: ScopeCounts | undefined;
  readonly users = new Map<string, ScopeCounts>();
  /** How often its configuration may have changed: a limit that was off may be on, and counts what was recorded. */
  changes = 0;
  /** What marks its counters in Redis, once this instance has seen them; 0 before. */
  mark = 0;
  /** The UTC day of the latest call. */
  usedOn = -1;

  private looksIn = -1;
  private looks = 0;

  constructor(readonly appId: string) {}

  /**
   * Whether to ask for the recorded requests of a user who is refused anyway: users who are made up must not cost a
   * question each.
   */
  mayLookUp(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.looksIn) [this.looksIn, this.looks] = [second, 0];
    return ++this.looks <= LOOKS_A_SECOND;
  }
}
