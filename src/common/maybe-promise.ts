/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Continues with a value: synchronously when it is available, otherwise when the promise resolves. This keeps the hot
 * path free of promises, each of which costs a microtask turn. An error of `next` is thrown, or rejects, accordingly.
 */
export function whenResolved<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
