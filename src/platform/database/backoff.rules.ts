/** Minimum and maximum delay between two attempts, in milliseconds. */
export interface BackoffBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Reconnect delays for Postgres: 100 ms to 2 s.
 *
 * Source: docs/reference/security.md#dependency-failures.
 */
const RECONNECT_BACKOFF: BackoffBounds = { minMs: 100, maxMs: 2_000 };

/**
 * The delay before the next attempt, in milliseconds: exponential within the bounds.
 *
 * @param failures consecutive failed attempts, 1 or more.
 */
export function backoffMs(failures: number, bounds: BackoffBounds = RECONNECT_BACKOFF): number {
  return Math.min(bounds.maxMs, bounds.minMs * 2 ** Math.min(failures - 1, 30));
}
