/** An instant (UTC), as the clock and Postgres give it. */
export type Instant = Date;

/** The one source of time. Rules take instants as arguments; services inject this.  */
export abstract class Clock {
  /** Milliseconds since the Unix epoch, UTC. May jump when the machine's clock is set. */
  abstract nowMs(): number;

  /** Milliseconds of a clock that never goes back; only differences mean anything. */
  abstract monotonicMs(): number;

  /** The current instant as a `Date` (UTC). */
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

/** The instant a number of milliseconds after the Unix epoch, for those who write or store it. */
export function instantOf(epochMs: number): Date {
  return new Date(epochMs);
}

/** When a UTC day, `YYYY-MM-DD`, begins: milliseconds since the Unix epoch; NaN for what can be no day. */
export function dayStartMs(day: string): number {
  return Date.parse(day);
}

/** When an ISO-8601 instant with its time zone is: milliseconds since the Unix epoch; NaN for what is none. */
export function epochMsOf(instant: string): number {
  return Date.parse(instant);
}

/** Whole seconds from one instant to a later one, as `Retry-After` tells them: when they are over, it has come; at least 1. */
export function wholeSecondsUntil(endMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endMs - nowMs) / 1000));
}
