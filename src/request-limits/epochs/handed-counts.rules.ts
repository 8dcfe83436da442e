import type { ScopeCounts, WindowCount } from '../counts/scope-counts.js';
import { WINDOW_MS, type WindowKind, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/** A window in which this instance admitted calls that Postgres has not been told of. */
export interface UntoldWindow {
  readonly scope: ScopeCounts;
  readonly kind: WindowKind;
  readonly window: WindowCount;
  /** As they were when it was found; the window goes on. */
  readonly index: number;
  readonly own: number;
  readonly count: number;
}

/** Windows that still run, or that a clock which is behind may still be in, and in which there is something to tell. */
export function untoldWindows(scopes: Iterable<ScopeCounts>, nowMs: number): UntoldWindow[] {
  const found: UntoldWindow[] = [];
  for (const scope of scopes) {
    for (const [kind, window] of scope.windows()) {
      const { index, own, told, count } = window;
      if (own === told || index < windowIndex(kind, nowMs) - 1) continue;
      found.push({ scope, kind, window, index, own, count });
    }
  }
  return found;
}

/** What this instance admitted and has not told yet. */
export function handedCounts(scopes: Iterable<ScopeCounts>, nowMs: number): HandedCount[] {
  return toldCounts(untoldWindows(scopes, nowMs));
}

/** What there is to tell of windows, in the order in which it is stored. */
export function toldCounts(windows: readonly UntoldWindow[]): HandedCount[] {
  return windows.map((one) => handedCount(one, one.own - one.window.told)).sort(byKey);
}

/** @param requests of the window. */
export function handedCount({ scope, kind, index }: UntoldWindow, requests: number): HandedCount {
  const windowMs = WINDOW_MS[kind];
  return { appId: scope.app.appId, userId: scope.userId, windowMs, windowStartMs: index * windowMs, requests };
}

/** Sorts as rows are stored: in one order for all. */
export function byKey(one: HandedCount, other: HandedCount): number {
  if (one.appId !== other.appId) return one.appId < other.appId ? -1 : 1;
  if (one.userId !== other.userId) return one.userId < other.userId ? -1 : 1;
  return one.windowMs - other.windowMs || one.windowStartMs - other.windowStartMs;
}
