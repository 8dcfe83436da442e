import type { EntityManager } from 'typeorm';
import type { ConfigChanges } from '../database/config-changes.js';
import { EVERYTHING } from '../database/config-changes.rules.js';
import { SnapshotCache, type SnapshotCacheOptions } from './snapshot-cache.js';

interface NotifiedCacheOptions<T extends object> extends SnapshotCacheOptions<T> {
  /** Topic of {@link ConfigChanges} on which this cache publishes its own changes. */
  readonly topic: string;
  /** Further topics whose changes invalidate a key. */
  readonly alsoStaleBy?: readonly string[];
  /** `renew` reloads a cached key at once; `drop` leaves that to the next caller. */
  readonly onChange?: 'drop' | 'renew';
}

/** A {@link SnapshotCache} that every instance invalidates when one of them commits a change. */
export class NotifiedCache<T extends object> {
  readonly #cache: SnapshotCache<T>;
  readonly #topic: string;
  readonly #renews: boolean;

  constructor(
    private readonly changes: ConfigChanges,
    { topic, alsoStaleBy = [], onChange = 'drop', ...options }: NotifiedCacheOptions<T>,
  ) {
    this.#cache = new SnapshotCache(options);
    this.#topic = topic;
    this.#renews = onChange === 'renew';
    for (const heard of [topic, ...alsoStaleBy]) {
      changes.subscribe(heard, (key) => {
        if (key === EVERYTHING) this.#cache.invalidateAll();
        else this.forget(key);
      });
    }
  }

  get(key: string): T | undefined | Promise<T | undefined> {
    return this.#cache.get(key);
  }

  /** Publishes, when the transaction commits, that the key has changed. */
  announceChange(tx: EntityManager, key: string): Promise<void> {
    return this.changes.publish(tx, { topic: this.#topic, key });
  }

  /** Invalidates the key on this instance after the commit: the next call sees the change without its notification. */
  forget(key: string): void {
    if (this.#renews) this.#cache.renew(key);
    else this.#cache.invalidate(key);
  }
}
