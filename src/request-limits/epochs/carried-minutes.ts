import type { MinuteBases } from '../counts/scope-counts.js';
import { WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/** Tolerance in minutes for handed-over minute windows, because the clocks of instances differ. */
export const CARRIED_MINUTES = 2;

/** Counts of minutes that began before an epoch was opened. */
interface CarriedMinutes {
  readonly counts: readonly HandedCount[];
  /** When the epoch was loaded, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  /** Minutes that began less than this long ago are complete, earlier ones are unknown; undefined: all are complete. */
  readonly unknownForMs: number | undefined;
}

/**
 * Base of minute counters: the handed-over count, zero in minutes to come, and infinity in minutes in which a lost
 * instance may have counted.
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
