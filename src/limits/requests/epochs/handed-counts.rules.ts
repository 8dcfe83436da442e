import type { MinuteBases, ScopeCounts, WindowCount } from '../counts/scope-counts.js';
import { WINDOW_MS, type WindowKind, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/** A window with calls of this instance that are not stored in Postgres. */
export interface UnreportedWindow {
  readonly scope: ScopeCounts;
  readonly kind: WindowKind;
  readonly window: WindowCount;
  /** Snapshot; the window continues to count. */
  readonly index: number;
  readonly own: number;
  readonly count: number;
}

/** Windows with unstored calls that still run, or that may still run by a clock that is behind. */
export function unreportedWindows(scopes: Iterable<ScopeCounts>, nowMs: number): UnreportedWindow[] {
  const found: UnreportedWindow[] = [];
  for (const scope of scopes) {
    for (const [kind, window] of scope.windows()) {
      const { index, own, reported, count } = window;
      if (own === reported || index < windowIndex(kind, nowMs) - 1) continue;
      found.push({ scope, kind, window, index, own, count });
    }
  }
  return found;
}

/** Calls of this instance that are not stored yet. */
export function handedCounts(scopes: Iterable<ScopeCounts>, nowMs: number): HandedCount[] {
  return reportedCounts(unreportedWindows(scopes, nowMs));
}

/** Unstored calls of windows, in storage order. */
export function reportedCounts(windows: readonly UnreportedWindow[]): HandedCount[] {
  return windows.map((one) => handedCount(one, one.own - one.window.reported)).sort(byKey);
}

/** @param requests count of the window to store. */
export function handedCount({ scope, kind, index }: UnreportedWindow, requests: number): HandedCount {
  const windowMs = WINDOW_MS[kind];
  return { appId: scope.app.appId, userId: scope.userId, windowMs, windowStartMs: index * windowMs, requests };
}

/** Order of storage, the same for all instances. */
export function byKey(one: HandedCount, other: HandedCount): number {
  if (one.appId !== other.appId) return one.appId < other.appId ? -1 : 1;
  if (one.userId !== other.userId) return one.userId < other.userId ? -1 : 1;
  return one.windowMs - other.windowMs || one.windowStartMs - other.windowStartMs;
}

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
