import type { MinuteBases } from '../counts/scope-counts.js';
import { WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/** Minutes around now in which something may have been handed over: clocks of instances differ. */
export const CARRIED_MINUTES = 2;

/** What is known of minutes that began before an epoch was opened. */
interface CarriedMinutes {
  readonly counts: readonly HandedCount[];
  /** When the epoch was loaded, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Minutes that had begun so long ago are known; undefined: all are. */
  readonly unknownForMs: number | undefined;
}

/**
 * What counters of minutes begin with: what was handed over, nothing in minutes to come, and more than any limit in
 * minutes in which an instance counted that is gone with its counts.
 */
export function carriedMinutes({ counts, nowMs, unknownForMs }: CarriedMinutes): MinuteBases {
  const known = new Map(counts.map((one) => [nameOf(one.appId, one.userId, one.windowStartMs), one.requests]));
  const unknownUpTo = unknownForMs === undefined ? -1 : windowIndex('minute', nowMs - unknownForMs);
  const carriedUpTo = windowIndex('minute', nowMs) + CARRIED_MINUTES;
  return (appId, userId, minute) => {
    if (minute > carriedUpTo) return 0;
    if (minute <= unknownUpTo) return Number.POSITIVE_INFINITY;
    return known.size === 0 ? 0 : (known.get(nameOf(appId, userId, minute * WINDOW_MS.minute)) ?? 0);
  };
}

function nameOf(appId: string, userId: string, startMs: number): string {
  return `${appId}\n${startMs}\n${userId}`;
}
