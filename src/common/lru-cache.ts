import { LRUCache } from 'lru-cache';

/**
 * A cache of the most recently used entries, which takes memory as it fills. The package's own `max` allocates the
 * places of all entries at once: 4 MiB for the caches of an idle process.
 *
 * @param max number of entries; one more removes the least recently used.
 */
export function lruCache<V extends object | number>(max: number): LRUCache<string, V> {
  return new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
}
