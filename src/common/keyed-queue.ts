/**
 * Runs the work of each key one piece after another. For work that would wait for a lock of its own kind anyway: at
 * most one per address or account then waits while it holds a connection of the shared pool.
 */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns what the work returns, or throws what it throws; a failure does not affect the next one. */
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
