import type { Ready } from '../../common/when-ready.js';

/** Does one step after the other; at once while none of them has to be waited for. */
export function inTurn(...steps: readonly (() => Ready<void>)[]): Ready<void> {
  for (const [at, step] of steps.entries()) {
    const done = step();
    if (done instanceof Promise) return done.then(() => inTurn(...steps.slice(at + 1)));
  }
}

/**
 * Tries something; when it fails, now or later, does what has to be done about it.
 *
 * @param onFailure may give another value, or throw the same or another error.
 */
export function orElse<T>(attempt: () => Ready<T>, onFailure: (error: unknown) => Ready<T>): Ready<T> {
  try {
    const tried = attempt();
    return tried instanceof Promise ? tried.catch(onFailure) : tried;
  } catch (error) {
    return onFailure(error);
  }
}
