import type { ScopeCounts } from '../counts/scope-counts.js';
import { WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import type { HandedCount } from './limit-epochs.repository.js';

/**
 * What this instance admitted in windows that still run, or that a clock which is behind may still be in; in the order
 * in which it is stored.
 */
export function handedCounts(scopes: Iterable<ScopeCounts>, nowMs: number): HandedCount[] {
  const counts: HandedCount[] = [];
  for (const scope of scopes) {
    for (const [kind, { index, own }] of scope.windows()) {
      if (own === 0 || index < windowIndex(kind, nowMs) - 1) continue;
      const windowMs = WINDOW_MS[kind];
      counts.push({
        appId: scope.app.appId,
        userId: scope.userId,
        windowMs,
        windowStartMs: index * windowMs,
        requests: own,
      });
    }
  }
  return counts.sort(byKey);
}

function byKey(one: HandedCount, other: HandedCount): number {
  if (one.appId !== other.appId) return one.appId < other.appId ? -1 : 1;
  if (one.userId !== other.userId) return one.userId < other.userId ? -1 : 1;
  return one.windowMs - other.windowMs || one.windowStartMs - other.windowStartMs;
}
