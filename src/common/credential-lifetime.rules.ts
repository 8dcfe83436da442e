/** How far the clock that wrote an expiry may be ahead of the clock that reads it. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * The latest expiry that a credential of this lifetime can have now. A later one was written by a clock that was ahead,
 * and is worth nothing: it would outlive the mending of that clock by as much (ADR 0038).
 */
export function latestExpiryMs(lifetimeMs: number, nowMs: number): number {
  return nowMs + lifetimeMs + CLOCK_TOLERANCE_MS;
}

/** Whether a credential is in force: it has not expired, and its expiry is no later than its lifetime allows. */
export function isInForce(expiresAtMs: number, lifetimeMs: number, nowMs: number): boolean {
  return nowMs < expiresAtMs && expiresAtMs <= latestExpiryMs(lifetimeMs, nowMs);
}
