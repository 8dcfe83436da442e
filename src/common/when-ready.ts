/** A value that is at hand, or the promise of one. */
export type Ready<T> = T | Promise<T>;

/**
 * Goes on with a value: at once when it is at hand, when it comes otherwise. What is warm stays free of promises, each
 * of which costs the hot path a turn of the microtask queue. What `next` throws is thrown, or rejects, likewise.
 */
export function whenReady<T, R>(value: Ready<T>, next: (value: T) => Ready<R>): Ready<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
