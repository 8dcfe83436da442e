import { describe, expect, it } from '@jest/globals';
import { lruCache } from './lru-cache.js';

describe('lruCache', () => {
  it('one entry too many → the least recently used is dropped', () => {
    const cache = lruCache<number>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.get('a');
    cache.set('d', 1);
    expect([...cache.keys()]).toEqual(['d', 'a', 'c']);
  });

  it('a known key is set again in a full cache → none is dropped', () => {
    const cache = lruCache<number>(2);
    for (const key of ['a', 'b', 'a', 'a', 'b']) cache.set(key, key === 'a' ? 1 : 2);
    expect([...cache.entries()]).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
  });

  it('sets and deletes in any order → never more than the capacity, and slots are reused', () => {
    const cache = lruCache<number>(10);
    for (let round = 0; round < 1_000; round++) {
      cache.set(String((round * 7) % 23), round);
      if (round % 3 === 0) cache.delete(String((round * 5) % 23));
      expect(cache.size).toBeLessThanOrEqual(10);
    }
    expect([...cache.keys()]).toHaveLength(cache.size);
  });
});
