/**
 * Runs the work of each key one piece after another. For work that waits for a lock of its own kind anyhow: so one of an
 * address or account at most waits with a connection of the pool that all share.
 */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns what the work returns, or throws what it throws; a failure does not concern who comes next. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    }
  }
}
