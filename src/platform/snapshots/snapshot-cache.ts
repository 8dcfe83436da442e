import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import { lruCache } from '../../common/lru-cache.js';
import { type ConfigChanges, EVERYTHING } from '../database/config-changes.js';

/** How a cache loads and how long entries stay valid. All ages count from the start of the load. */
export interface SnapshotCacheOptions<T extends object> {
  /** Loads the current state; `undefined` means not found. Never runs concurrently for one key. */
  readonly load: (key: string) => Promise<T | undefined>;
  readonly clock: Clock;
  /** Age in milliseconds after which a snapshot is still served while a reload runs in the background. */
  readonly refreshAfterMs: number;
  /** Age in milliseconds after which a snapshot is not served: the caller waits for a new one. */
  readonly maxAgeMs: number;
  /** Lifetime of a "not found" entry in milliseconds. */
  readonly missAgeMs: number;
  /** Maximum snapshots, and separately maximum "not found" entries, which therefore evict no snapshot. */
  readonly max: number;
}

interface Snapshot<T> {
  readonly value: T;
  readonly startedAtMs: number;
  /** No background load before this time, so that a failing database is not queried once per request. */
  nextRefreshAtMs: number;
}

const REFRESH_PAUSE_MS = 1_000;

/**
 * Caches stored configuration, one snapshot per key. A cache hit is synchronous and allocates nothing; a miss loads
 * once for all waiting callers. An aging snapshot reloads in the background; an expired one is never served.
 *
 * Source: docs/reference/security.md#revocation, docs/reference/security.md#dependency-failures.
 */
export class SnapshotCache<T extends object> {
  readonly #options: SnapshotCacheOptions<T>;
  readonly #snapshots: LRUCache<string, Snapshot<T>>;
  /** Start time of the load that found nothing. */
  readonly #misses: LRUCache<string, number>;
  readonly #loads = new Map<string, Promise<T | undefined>>();

  constructor(options: SnapshotCacheOptions<T>) {
    this.#options = options;
    this.#snapshots = lruCache(options.max);
    this.#misses = lruCache(options.max);
  }

  /**
   * The snapshot of a key: synchronously from the cache, otherwise after a load.
   *
   * @returns `undefined`, itself or in the promise, when not found. The promise rejects with the error of the load.
   */
  get(key: string): T | undefined | Promise<T | undefined> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#snapshots.get(key);
    if (known === undefined) {
      const missedAtMs = this.#misses.get(key);
      const isMissing = missedAtMs !== undefined && nowMs - missedAtMs < this.#options.missAgeMs;
      return isMissing ? undefined : this.#load(key, nowMs);
    }
    const ageMs = nowMs - known.startedAtMs;
    if (ageMs >= this.#options.maxAgeMs) return this.#load(key, nowMs);
    if (ageMs >= this.#options.refreshAfterMs && nowMs >= known.nextRefreshAtMs) this.#refresh(key, known, nowMs);
    return known.value;
  }

  /**
   * Drops a key. A load in progress still answers its callers, but its result is not cached.
   *
   * @returns whether a snapshot was cached or loading.
   */
  invalidate(key: string): boolean {
    const wasLoading = this.#loads.delete(key);
    const wasKnown = this.#snapshots.delete(key);
    this.#misses.delete(key);
    return wasLoading || wasKnown;
  }

  /** Drops a key and reloads it at once if it was in use, for callers that do not wait. */
  renew(key: string): void {
    // After a failed load the next caller loads again and receives the error.
    if (this.invalidate(key)) this.#load(key, this.#options.clock.monotonicMs()).catch(() => {});
  }

  /** As {@link invalidate}, for every key. */
  invalidateAll(): void {
    this.#loads.clear();
    this.#snapshots.clear();
    this.#misses.clear();
  }

  #refresh(key: string, known: Snapshot<T>, nowMs: number): void {
    known.nextRefreshAtMs = nowMs + REFRESH_PAUSE_MS;
    // The old snapshot is still served; once it expires, the next caller receives the error.
    this.#load(key, nowMs).catch(() => {});
  }

  #load(key: string, startedAtMs: number): Promise<T | undefined> {
    const underWay = this.#loads.get(key);
    if (underWay !== undefined) return underWay;
    const load: Promise<T | undefined> = this.#options.load(key).then(
      (value) => {
        if (this.#finish(key, load)) this.#keep(key, value, startedAtMs);
        return value;
      },
      (error: unknown) => {
        this.#finish(key, load);
        throw error;
      },
    );
    this.#loads.set(key, load);
    return load;
  }

  /** @returns false when the key was invalidated since the load began. */
  #finish(key: string, load: Promise<T | undefined>): boolean {
    return this.#loads.get(key) === load && this.#loads.delete(key);
  }

  #keep(key: string, value: T | undefined, startedAtMs: number): void {
    if (value === undefined) {
      this.#snapshots.delete(key);
      this.#misses.set(key, startedAtMs);
    } else {
      this.#misses.delete(key);
      this.#snapshots.set(key, { value, startedAtMs, nextRefreshAtMs: 0 });
    }
  }
}

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
