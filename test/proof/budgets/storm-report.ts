import type { CallCounts } from './budget-audit.js';

/** The faults of a service while it serves. */
export interface StormFaults {
  readonly kills?: boolean;
  readonly redis?: boolean;
  readonly postgres?: boolean;
}

export interface StormOptions {
  readonly seed: number;
  readonly clients: number;
  readonly forMs: number;
  readonly faults: StormFaults;
  /** Proves that idle grants are returned automatically, which takes 15 seconds. */
  readonly waitsForQuiet: boolean;
}

/** The result of a storm. */
export interface StormReport extends CallCounts {
  readonly seed: number;
  readonly faults: string[];
  readonly violations: readonly string[];
  /** Answers by kind. */
  readonly answers: Readonly<Record<string, number>>;
  /** The slowest answer, with its milliseconds. */
  readonly slowest: string;
  readonly kills: number;
  /** Starts that failed because Postgres became unavailable meanwhile; the operator starts the service again. */
  readonly failedStarts: number;
  /** Number of exhausted budgets, and of all budgets. */
  readonly spent: readonly [number, number];
}
