import type { ScopeCounts, WindowCount } from '../counts/scope-counts.js';
import { WINDOW_MS, type WindowKind, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/** A window with calls of this instance that are not stored in Postgres. */
export interface UntoldWindow {
  readonly scope: ScopeCounts;
  readonly kind: WindowKind;
  readonly window: WindowCount;
  /** Snapshot; the window continues to count. */
  readonly index: number;
  readonly own: number;
  readonly count: number;
}

/** Windows with unstored calls that still run, or that may still run by a clock that is behind. */
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

/** Calls of this instance that are not stored yet. */
export function handedCounts(scopes: Iterable<ScopeCounts>, nowMs: number): HandedCount[] {
  return toldCounts(untoldWindows(scopes, nowMs));
}

/** Unstored calls of windows, in storage order. */
export function toldCounts(windows: readonly UntoldWindow[]): HandedCount[] {
  return windows.map((one) => handedCount(one, one.own - one.window.told)).sort(byKey);
}

/** @param requests count of the window to store. */
export function handedCount({ scope, kind, index }: UntoldWindow, requests: number): HandedCount {
  const windowMs = WINDOW_MS[kind];
  return { appId: scope.app.appId, userId: scope.userId, windowMs, windowStartMs: index * windowMs, requests };
}

/** Order of storage, the same for all instances. */
export function byKey(one: HandedCount, other: HandedCount): number {
  if (one.appId !== other.appId) return one.appId < other.appId ? -1 : 1;
  if (one.userId !== other.userId) return one.userId < other.userId ? -1 : 1;
  return one.windowMs - other.windowMs || one.windowStartMs - other.windowStartMs;
}
