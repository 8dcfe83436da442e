import type { EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { LogEvents } from '../common/log/log-events.js';

/** What is older goes. UTC days, `YYYY-MM-DD`; the day named is the first one that stays. */
export interface RetentionDays {
  readonly events: string;
  /** Always the first day of a month. */
  readonly dayTotals: string;
}

/** One run of the nightly work: the one connection that does all of it, and what time it is. */
export interface RetentionRun {
  readonly connection: EntityManager;
  /** A time that two clocks agree has come. */
  readonly now: Instant;
  readonly days: RetentionDays;
  /** Asks to stop after the statement under way. */
  readonly signal: AbortSignal;
}

type FailureLine = Extract<
  { [Line in keyof LogEvents]: { error: string } extends LogEvents[Line] ? Line : never }[keyof LogEvents],
  `${string}_failed`
>;

interface StepOf<Line extends keyof LogEvents> {
  /** The line that says what it did: what `run` returns. */
  readonly done: Line;
  /** The line that says that it did not get to its end. */
  readonly failed: FailureLine;
  /** Does it, in statements that each leave the data whole. May throw. */
  run(run: RetentionRun): Promise<LogEvents[Line]>;
}

/** One step of the nightly work, with its two lines of the log. */
export type RetentionStep = { [Line in keyof LogEvents]: StepOf<Line> }[keyof LogEvents];
