/** Shortest and longest pause between two attempts, in milliseconds. */
export interface BackoffBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Pauses between attempts to reach Postgres: 100 ms at first, never more than 2 s.
 *
 * Source: docs/reference/security.md#dependency-failures.
 */
const RECONNECT_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 2_000 };

/**
 * The pause before the next attempt, in milliseconds: doubles with every failure and stays within the bounds.
 *
 * @param failures how many attempts have failed in a row, 1 or more.
 */
export function backoffMs(failures: number, bounds: BackoffBounds = RECONNECT_BACKOFF): number {
  return Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
}
