import type { EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { LogEvents } from '../common/log/log-events.js';
import type { RetentionDays } from './retention.rules.js';

/** One retention run: its connection and its time. */
export interface RetentionRun {
  readonly connection: EntityManager;
  /** The earlier of this machine's time and the database time. */
  readonly now: Instant;
  readonly days: RetentionDays;
  /** Stops the run after the current statement. */
  readonly signal: AbortSignal;
}

type FailureLine = Extract<
  { [Line in keyof LogEvents]: { error: string } extends LogEvents[Line] ? Line : never }[keyof LogEvents],
  `${string}_failed`
>;

interface StepOf<Line extends keyof LogEvents> {
  /** The log line of a completed step; its fields are the result of `run`. */
  readonly done: Line;
  /** The log line of a failed step. */
  readonly failed: FailureLine;
  /** Runs the step in statements that each keep the data consistent. May throw. */
  run(run: RetentionRun): Promise<LogEvents[Line]>;
}

/** One retention step with its two log lines. */
export type RetentionStep = { [Line in keyof LogEvents]: StepOf<Line> }[keyof LogEvents];
