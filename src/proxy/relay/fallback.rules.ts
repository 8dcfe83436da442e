/** The part of the whole time that every target still to come can rely on. */
const RESERVED_SHARE = 1 / 4;

/**
 * Whether an answer of this status sends the request to the next target. Every other one is final.
 * Source: docs/reference/application-api.md#fallbacks.
 */
export function isTargetFailure(status: number): boolean {
  return status === 429 || status >= 500;
}

/** The time to the first byte that the targets of one request share. */
export interface SharedTime {
  /** What all targets may take together, in milliseconds. */
  readonly totalMs: number;
  /** What is left of it. */
  readonly leftMs: number;
  /** Targets after the one that is about to be called. */
  readonly following: number;
}

/**
 * How long the next target may take until its response headers. The last one may take all that is left; one before
 * leaves a quarter of the whole to each that follows, but may always take its equal share. So a target that hangs
 * leaves time to be replaced, and all together never take longer than one alone may (ADR 0015).
 */
export function attemptTimeMs({ totalMs, leftMs, following }: SharedTime): number {
  const equalShare = leftMs / (following + 1);
  return Math.max(0, equalShare, leftMs - following * RESERVED_SHARE * totalMs);
}
