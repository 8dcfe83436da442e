import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';

/** How a cache loads and how long it believes what it loaded. All ages count from the start of the load. */
export interface SnapshotCacheOptions<T extends object> {
  /** Reads the current state; `undefined` means that there is no such thing. Never called twice at once for one key. */
  readonly load: (key: string) => Promise<T | undefined>;
  readonly clock: Clock;
  /** Milliseconds after which a snapshot is still served while a newer one is loaded in the background. */
  readonly refreshAfterMs: number;
  /** Milliseconds after which a snapshot is not served any more: the caller waits for a new one. */
  readonly maxAgeMs: number;
  /** Milliseconds for which "there is no such thing" is believed. */
  readonly missAgeMs: number;
  /** Most snapshots kept, and, apart from them, most misses: asking for what is not there pushes no snapshot out. */
  readonly max: number;
}

interface Snapshot<T> {
  readonly value: T;
  readonly startedAtMs: number;
  /** No background load before this instant, so that a database in trouble is not asked once per request. */
  nextRefreshAtMs: number;
}

const REFRESH_PAUSE_MS = 1_000;

/**
 * Stored configuration in memory, one snapshot a key. A warm read is synchronous and allocates nothing; a cold one
 * loads once however many callers wait. What ages is renewed in the background, what is too old is never served.
 *
 * Source: docs/reference/security.md#revocation, docs/reference/security.md#dependency-failures.
 */
export class SnapshotCache<T extends object> {
  readonly #options: SnapshotCacheOptions<T>;
  readonly #snapshots: LRUCache<string, Snapshot<T>>;
  /** The instant at which the load that found nothing was started. */
  readonly #misses: LRUCache<string, number>;
  readonly #loads = new Map<string, Promise<T | undefined>>();

  constructor(options: SnapshotCacheOptions<T>) {
    this.#options = options;
    this.#snapshots = new LRUCache({ max: options.max });
    this.#misses = new LRUCache({ max: options.max });
  }

  /**
   * The snapshot of a key: at once when a fresh enough one is in memory, else after loading it.
   *
   * @returns `undefined`, itself or in the promise, when there is no such thing. The promise fails as the load failed.
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
   * Forgets a key. A load under way still answers those who wait for it, but what it brings is not kept.
   *
   * @returns whether a snapshot was in memory or on its way.
   */
  invalidate(key: string): boolean {
    const wasLoading = this.#loads.delete(key);
    const wasKnown = this.#snapshots.delete(key);
    this.#misses.delete(key);
    return wasLoading || wasKnown;
  }

  /** Forgets a key and, where it was in use, reads it again at once, for callers that will not wait. */
  renew(key: string): void {
    // A load that fails is tried again by the next caller, who learns why.
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
    // The old snapshot still serves; when it is too old, the next load's failure reaches its caller.
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
