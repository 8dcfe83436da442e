import { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { MaybePromise } from '../../common/maybe-promise.js';

/** The log reports a machine clock that differs by more than this. */
const DIFFERS_MS = 2_000;
/**
 * A larger change between the two machine clocks within one heartbeat is a jump: a clock was set, or the machine slept.
 */
const JUMP_MS = 500;
/** Reading both clocks repeats until it takes less than this. */
const MAX_READ_MS = 100;
/** The shared clock holds its value instead of going back, up to this difference. */
const MAX_HOLD_MS = 60_000;

/** The clocks of this machine at one moment. */
interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

interface SharedClockOptions {
  /** The clocks of this machine. */
  readonly own: Clock;
  /** False: the machine's own clock is the shared time and nothing is measured. */
  readonly follows: boolean;
  /** Log lines: clock_differs, clock_agrees. */
  readonly log: Log;
}

/**
 * The time that all instances share: the database's, measured with each heartbeat. Between two measurements this
 * machine's monotonic clock advances it, so a wrong or adjusted wall clock has no effect.
 *
 * The time does not go back: the clock holds its last value until the measured time passes it. It goes back only where
 * that would take longer than a minute. Source: ADR 0035.
 */
export class SharedClock extends Clock {
  /** Shared time minus monotonic time; undefined until the first measurement. */
  private offsetMs: number | undefined;
  /** Wall time minus monotonic time at the last reading. */
  private steadyMs: number;
  private lastMs = Number.NEGATIVE_INFINITY;
  /** Resolves at the next measurement; undefined while the time is known. */
  private measurement: PromiseWithResolvers<void> | undefined;
  /** The difference last logged; undefined when the clocks agree. */
  private loggedAheadMs: number | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly options: SharedClockOptions) {
    super();
    const { wallMs, monotonicMs } = this.read();
    this.steadyMs = wallMs - monotonicMs;
    if (options.follows) this.measurement = Promise.withResolvers();
  }

  /** Whole milliseconds since the Unix epoch. */
  nowMs(): number {
    const { follows, own } = this.options;
    if (!follows) return own.nowMs();
    let monotonicMs = own.monotonicMs();
    let wallMs = own.nowMs();
    if (Math.abs(wallMs - monotonicMs - this.steadyMs) > JUMP_MS) {
      ({ wallMs, monotonicMs } = this.read());
      this.detectJump(wallMs - monotonicMs);
    }
    if (this.offsetMs === undefined) return wallMs;
    this.lastMs = Math.max(this.lastMs, Math.floor(monotonicMs + this.offsetMs));
    return this.lastMs;
  }

  monotonicMs(): number {
    return this.options.own.monotonicMs();
  }

  /** The wall clock of this machine, right or wrong, in milliseconds since the Unix epoch. */
  ownNowMs(): number {
    return this.options.own.nowMs();
  }

  /** How far this machine's clock is ahead, in milliseconds; negative when it is behind. */
  get ownAheadMs(): number {
    return this.offsetMs === undefined ? 0 : this.ownNowMs() - this.monotonicMs() - this.offsetMs;
  }

  /** True when this machine's clock differs by more than two seconds. */
  get differs(): boolean {
    return Math.abs(this.ownAheadMs) > DIFFERS_MS;
  }

  /**
   * Waits until the time is known. It is unknown after a clock of this machine jumped, because the machine may have
   * slept.
   *
   * @returns `undefined` when the time is known; otherwise a promise of the next measurement, without a time limit.
   */
  whenKnown(): MaybePromise<void> {
    if (this.options.follows) this.nowMs();
    return this.measurement?.promise;
  }

  /** Calls `listener` when the time becomes unknown. */
  onJump(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Reads both clocks; call it right before the database time is queried, see {@link adopt}. */
  read(): ClockReading {
    const { own } = this.options;
    for (;;) {
      const monotonicMs = own.monotonicMs();
      const wallMs = own.nowMs();
      // A process preempted between the two reads would look like a clock jump.
      if (own.monotonicMs() - monotonicMs < MAX_READ_MS) return { wallMs, monotonicMs };
    }
  }

  /**
   * Adopts the database time.
   *
   * @param before the clocks of this machine before the query was sent.
   * @param databaseMs the database time, in milliseconds since the Unix epoch.
   */
  adopt(before: ClockReading, databaseMs: number): void {
    if (!this.options.follows) return;
    const after = this.read();
    const steadyMs = after.wallMs - after.monotonicMs;
    // The age of the measurement is unknown when a clock jumped during the query.
    if (Math.abs(steadyMs - (before.wallMs - before.monotonicMs)) > JUMP_MS) {
      this.detectJump(steadyMs);
      return;
    }
    this.steadyMs = steadyMs;
    this.correct(databaseMs - after.monotonicMs, databaseMs - before.monotonicMs);
    this.logDifference();
    this.measurement?.resolve();
    this.measurement = undefined;
  }

  /** Keeps the offset within these bounds with the smallest change, which avoids jitter. */
  private correct(leastMs: number, mostMs: number): void {
    const offsetMs = this.offsetMs;
    if (offsetMs === undefined) {
      this.offsetMs = (leastMs + mostMs) / 2;
      return;
    }
    this.offsetMs = Math.min(Math.max(offsetMs, leastMs), mostMs);
    if (this.lastMs - (this.monotonicMs() + this.offsetMs) > MAX_HOLD_MS) this.lastMs = Number.NEGATIVE_INFINITY;
  }

  private detectJump(steadyMs: number): void {
    if (Math.abs(steadyMs - this.steadyMs) <= JUMP_MS) return;
    this.steadyMs = steadyMs;
    this.measurement ??= Promise.withResolvers();
    for (const listener of this.listeners) listener();
  }

  /** Logs once per change, not once per measurement. */
  private logDifference(): void {
    const { log } = this.options;
    const aheadMs = Math.round(this.ownAheadMs);
    const isLogged = Math.abs(aheadMs - (this.loggedAheadMs ?? 0)) <= DIFFERS_MS;
    if (this.differs && (this.loggedAheadMs === undefined || !isLogged)) {
      this.loggedAheadMs = aheadMs;
      log.event('clock_differs', { aheadMs });
    } else if (!this.differs && this.loggedAheadMs !== undefined) {
      this.loggedAheadMs = undefined;
      log.event('clock_agrees', { aheadMs });
    }
  }
}
