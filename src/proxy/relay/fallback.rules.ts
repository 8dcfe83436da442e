/** Share of the total time reserved for each remaining target. */
const RESERVED_SHARE = 1 / 4;

/**
 * Whether an answer with this status triggers a fallback. Every other status is final.
 * Source: docs/reference/application-api.md#fallbacks.
 */
export function isTargetFailure(status: number): boolean {
  return status === 429 || status >= 500;
}

/** The time to first byte that the targets of one request share. */
export interface SharedTime {
  /** Limit for all targets together, in milliseconds. */
  readonly totalMs: number;
  /** Remaining part of it. */
  readonly leftMs: number;
  /** Number of targets after the next one. */
  readonly following: number;
}

/**
 * Computes the time limit of the next target until response headers. The last target gets all the remaining time. An
 * earlier one leaves a quarter of the total to each following target, but always gets its equal share. A stalled target
 * thus leaves time for fallbacks, and all targets together stay within the limit of one (ADR 0015).
 */
export function attemptTimeMs({ totalMs, leftMs, following }: SharedTime): number {
  const equalShare = leftMs / (following + 1);
  return Math.max(0, equalShare, leftMs - following * RESERVED_SHARE * totalMs);
}
