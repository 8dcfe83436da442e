import type { ConfigChanges } from '../database/config-changes.js';
import { EVERYTHING } from '../database/config-changes.rules.js';
import { SnapshotCache, type SnapshotCacheOptions } from './snapshot-cache.js';

interface NotifiedCacheOptions<T extends object> extends SnapshotCacheOptions<T> {
  /** The topics of {@link ConfigChanges} whose changes invalidate a key. */
  readonly topics: readonly string[];
  /** `renew` reloads a cached key at once; `drop` leaves that to the next caller. */
  readonly onChange?: 'drop' | 'renew';
}

/** A {@link SnapshotCache} that every instance invalidates when one of them commits a change. */
export class NotifiedCache<T extends object> {
  readonly #cache: SnapshotCache<T>;

  constructor(changes: ConfigChanges, { topics, onChange = 'drop', ...options }: NotifiedCacheOptions<T>) {
    this.#cache = new SnapshotCache(options);
    for (const topic of topics) {
      changes.subscribe(topic, (key) => {
        if (key === EVERYTHING) this.#cache.invalidateAll();
        else if (onChange === 'renew') this.#cache.renew(key);
        else this.#cache.invalidate(key);
      });
    }
  }

  get(key: string): T | undefined | Promise<T | undefined> {
    return this.#cache.get(key);
  }
}
