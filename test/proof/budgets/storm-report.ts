import type { CallCounts } from './budget-audit.js';

/** What happens to a service while it serves. */
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
  /** Proves that idle money comes back by itself, which takes a quarter of a minute. */
  readonly waitsForQuiet: boolean;
}

/** What a storm came to. */
export interface StormReport extends CallCounts {
  readonly seed: number;
  readonly faults: string[];
  readonly violations: readonly string[];
  /** Answers by kind. */
  readonly answers: Readonly<Record<string, number>>;
  /** The answer that took longest, with its milliseconds. */
  readonly slowest: string;
  readonly kills: number;
  /** Starts that failed because Postgres went away meanwhile; whoever runs the service starts it again. */
  readonly failedStarts: number;
  /** Budgets spent to their end, of how many. */
  readonly spent: readonly [number, number];
}
