import type { Ready } from '../../common/when-ready.js';

/** Runs the steps in order, synchronously until a step returns a promise. */
export function inTurn(...steps: readonly (() => Ready<void>)[]): Ready<void> {
  for (const [at, step] of steps.entries()) {
    const done = step();
    if (done instanceof Promise) return done.then(() => inTurn(...steps.slice(at + 1)));
  }
}

/**
 * Runs `attempt` and handles its failure, synchronous or asynchronous.
 *
 * @param onFailure may return another value, or throw the same or another error.
 */
export function orElse<T>(attempt: () => Ready<T>, onFailure: (error: unknown) => Ready<T>): Ready<T> {
  try {
    const tried = attempt();
    return tried instanceof Promise ? tried.catch(onFailure) : tried;
  } catch (error) {
    return onFailure(error);
  }
}
