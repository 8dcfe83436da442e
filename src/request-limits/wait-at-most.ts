import { countsUnknown } from './request-limit.rules.js';

/** Maximum wait of a call for counts. */
export const MAX_WAIT_MS = 1_000;

/**
 * Bounds a wait, in real time.
 *
 * @throws service_unavailable, in the promise, on timeout; the awaited work continues.
 * Source: docs/reference/security.md#dependency-failures.
 */
export function waitAtMost<T>(awaited: Promise<T>, ms = MAX_WAIT_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(countsUnknown()), ms);
    void awaited.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
