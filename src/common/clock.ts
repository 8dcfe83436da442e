/** An instant in UTC, as the clock and Postgres return it. */
export type Instant = Date;

/** The only source of time. Rules take instants as arguments; services inject this. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. May jump when the machine's clock is set. */
  abstract nowMs(): number;

  /** Monotonic milliseconds; only differences are meaningful. */
  abstract monotonicMs(): number;

  now(): Date {
    return new Date(this.nowMs());
  }

  /** The current UTC day, `YYYY-MM-DD`. */
  utcDay(): string {
    return this.now().toISOString().slice(0, 'YYYY-MM-DD'.length);
  }

  /** The current UTC month, `YYYY-MM`. */
  utcMonth(): string {
    return this.now().toISOString().slice(0, 'YYYY-MM'.length);
  }
}

/** The machine's own clocks. */
export class SystemClock extends Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }
}

/** The `Date` of an epoch time in milliseconds, for display or storage. */
export function instantOf(epochMs: number): Date {
  return new Date(epochMs);
}

/** Start of a UTC day, `YYYY-MM-DD`, in milliseconds since the Unix epoch; NaN for an invalid date. */
export function dayStartMs(day: string): number {
  return Date.parse(day);
}

/** An ISO 8601 time with a time zone in milliseconds since the Unix epoch; NaN for an invalid one. */
export function epochMsOf(instant: string): number {
  return Date.parse(instant);
}

/** Seconds for `Retry-After`: the time until `endMs`, rounded up, at least 1. */
export function wholeSecondsUntil(endMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endMs - nowMs) / 1000));
}
