/** Tolerated clock difference between the writer and the reader of an expiry. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * The latest valid expiry of a credential with this lifetime. A later one was written by a clock that was ahead; the
 * credential is invalid, because it would outlast its lifetime once that clock is corrected (ADR 0014).
 */
export function latestExpiryMs(lifetimeMs: number, nowMs: number): number {
  return nowMs + lifetimeMs + CLOCK_TOLERANCE_MS;
}

/** True while a credential has not expired and its expiry does not exceed its lifetime. */
export function isInForce(expiresAtMs: number, lifetimeMs: number, nowMs: number): boolean {
  return nowMs < expiresAtMs && expiresAtMs <= latestExpiryMs(lifetimeMs, nowMs);
}
