import type { MaybePromise } from '../../common/maybe-promise.js';

/**
 * Counts what a request presents once, however often the request is checked: the form of a page runs a step and shows
 * the page again. A count that refuses is repeated, so that nothing is done beyond a limit.
 */
export class CountedOnce {
  readonly #counted = new WeakSet<object>();

  /**
   * @param brought what the request presented, one object for each request.
   * @throws what `count` throws.
   */
  async once(brought: object, count: () => MaybePromise<void>): Promise<void> {
    if (this.#counted.has(brought)) return;
    await count();
    this.#counted.add(brought);
  }
}
