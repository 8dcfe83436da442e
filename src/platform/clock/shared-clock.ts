import { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { Ready } from '../../common/when-ready.js';

/** A clock of a machine that is further off than this is told of. */
const DIFFERS_MS = 2_000;
/** More than this between a machine's two clocks within one sign of life: one was set, or the machine slept. */
const JUMP_MS = 500;
/** Both clocks are read within this time, or again. */
const LONGEST_READ_MS = 100;
/** The shared clock stands still rather than going back, unless it would have to for longer than this. */
const LONGEST_STAND_MS = 60_000;

/** The clocks of this machine at one moment. */
interface ClockReading {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

interface SharedClockOptions {
  /** The clocks of this machine. */
  readonly own: Clock;
  /** False: nothing is measured, the own clock counts as the one that all share. */
  readonly follows: boolean;
  /** Log lines: clock_differs, clock_agrees. */
  readonly log: Log;
}

/**
 * The time that all instances share: that of the database, measured with each sign of life. Between two measurements
 * this machine's monotonic clock counts on, so a wall clock that is wrong, or that is set, changes nothing.
 *
 * Time never goes back: where it would have to, it stands still until it is right again. Only where that takes longer
 * than a minute, it goes back. Source: ADR 0035.
 */
export class SharedClock extends Clock {
  /** The shared time minus the monotonic one; undefined until it was measured. */
  private offsetMs: number | undefined;
  /** Wall minus monotonic, when both were last looked at together. */
  private steadyMs: number;
  private lastMs = Number.NEGATIVE_INFINITY;
  /** What waits for the next measurement; undefined while the time is known. */
  private unsure: PromiseWithResolvers<void> | undefined;
  /** The difference that the log has been told of; undefined while there is none to tell. */
  private toldAheadMs: number | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly options: SharedClockOptions) {
    super();
    const { wallMs, monotonicMs } = this.read();
    this.steadyMs = wallMs - monotonicMs;
    if (options.follows) this.unsure = Promise.withResolvers();
  }

  /** Whole milliseconds since the Unix epoch. */
  nowMs(): number {
    const { follows, own } = this.options;
    if (!follows) return own.nowMs();
    const { wallMs, monotonicMs } = this.read();
    this.lookForJump(wallMs - monotonicMs);
    if (this.offsetMs === undefined) return wallMs;
    this.lastMs = Math.max(this.lastMs, Math.floor(monotonicMs + this.offsetMs));
    return this.lastMs;
  }

  monotonicMs(): number {
    return this.options.own.monotonicMs();
  }

  /** What the clock of this machine says, right or wrong: milliseconds since the Unix epoch. */
  ownNowMs(): number {
    return this.options.own.nowMs();
  }

  /** How far the clock of this machine is ahead, in milliseconds; negative where it is behind. */
  get ownAheadMs(): number {
    return this.offsetMs === undefined ? 0 : this.ownNowMs() - this.monotonicMs() - this.offsetMs;
  }

  /** Whether the clock of this machine is further off than it should be. */
  get differs(): boolean {
    return Math.abs(this.ownAheadMs) > DIFFERS_MS;
  }

  /**
   * Whether the time is known. It is not after a clock of this machine has jumped, because it may have slept.
   *
   * @returns at once where it is; otherwise when it has been measured, however long that takes.
   */
  settled(): Ready<void> {
    if (this.options.follows) this.nowMs();
    return this.unsure?.promise;
  }

  /** Calls `listener` when the time is not known any more. */
  onJump(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** To be called right before the database is asked for its time; see {@link hear}. */
  read(): ClockReading {
    const { own } = this.options;
    for (;;) {
      const monotonicMs = own.monotonicMs();
      const wallMs = own.nowMs();
      // A process that lost the processor between the two is none whose clock has jumped.
      if (own.monotonicMs() - monotonicMs < LONGEST_READ_MS) return { wallMs, monotonicMs };
    }
  }

  /**
   * Takes the time of the database over.
   *
   * @param asked the clocks of this machine before the question was sent.
   * @param theirsMs what the database answered, milliseconds since the Unix epoch.
   */
  hear(asked: ClockReading, theirsMs: number): void {
    if (!this.options.follows) return;
    const heard = this.read();
    const steadyMs = heard.wallMs - heard.monotonicMs;
    // Nobody can tell how long ago the database said so, where the machine may have slept on the way.
    if (Math.abs(steadyMs - (asked.wallMs - asked.monotonicMs)) > JUMP_MS) {
      this.lookForJump(steadyMs);
      return;
    }
    this.steadyMs = steadyMs;
    this.correct(theirsMs - heard.monotonicMs, theirsMs - asked.monotonicMs);
    this.tell();
    this.unsure?.resolve();
    this.unsure = undefined;
  }

  /** The offset lies within these bounds. It changes as little as that allows, so that it does not tremble. */
  private correct(leastMs: number, mostMs: number): void {
    const before = this.offsetMs;
    if (before === undefined) {
      this.offsetMs = (leastMs + mostMs) / 2;
      return;
    }
    this.offsetMs = Math.min(Math.max(before, leastMs), mostMs);
    if (this.lastMs - (this.monotonicMs() + this.offsetMs) > LONGEST_STAND_MS) this.lastMs = Number.NEGATIVE_INFINITY;
  }

  private lookForJump(steadyMs: number): void {
    if (Math.abs(steadyMs - this.steadyMs) <= JUMP_MS) return;
    this.steadyMs = steadyMs;
    this.unsure ??= Promise.withResolvers();
    for (const listener of this.listeners) listener();
  }

  /** Once a change, not once a measurement. */
  private tell(): void {
    const { log } = this.options;
    const aheadMs = Math.round(this.ownAheadMs);
    const isAsTold = Math.abs(aheadMs - (this.toldAheadMs ?? 0)) <= DIFFERS_MS;
    if (this.differs && (this.toldAheadMs === undefined || !isAsTold)) {
      this.toldAheadMs = aheadMs;
      log.event('clock_differs', { aheadMs });
    } else if (!this.differs && this.toldAheadMs !== undefined) {
      this.toldAheadMs = undefined;
      log.event('clock_agrees', { aheadMs });
    }
  }
}
