import { countsUnknown } from './request-limit.rules.js';

/** Longest a call waits to learn what has been counted. */
export const MAX_WAIT_MS = 1_000;

/**
 * Bounds a wait, in real time.
 *
 * @throws service_unavailable, in the promise, when it takes longer; what was waited for goes on.
 * Source: docs/reference/security.md#dependency-failures.
 */
export function waitAtMost<T>(awaited: Promise<T>, ms = MAX_WAIT_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(countsUnknown()), ms);
    void awaited.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
