import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../common/clock.js';
import { SnapshotCache } from './snapshot-cache.js';

class ManualClock extends Clock {
  atMs = 1_000;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.atMs;
  }
}

interface Thing {
  readonly version: number;
}

/** A store whose loads the test completes. */
function setUp({ max = 100 } = {}) {
  const clock = new ManualClock();
  const loads: { key: string; end: (value: Thing | undefined) => void; fail: (error: Error) => void }[] = [];
  const cache = new SnapshotCache<Thing>({
    load: (key) => {
      const { promise, resolve, reject } = Promise.withResolvers<Thing | undefined>();
      loads.push({ key, end: resolve, fail: reject });
      return promise;
    },
    clock,
    refreshAfterMs: 30_000,
    maxAgeMs: 60_000,
    missAgeMs: 10_000,
    max,
  });
  const warm = async (key: string, value: Thing | undefined) => {
    const answer = cache.get(key);
    loads.at(-1)?.end(value);
    await answer;
  };
  return { clock, cache, loads, warm };
}

/** Lets all pending promises settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('SnapshotCache', () => {
  it('cold key: many callers at once → one load, the same snapshot for all', async () => {
    const { cache, loads } = setUp();
    const answers = [cache.get('a'), cache.get('a'), cache.get('a')];
    expect(loads).toHaveLength(1);
    loads[0]?.end({ version: 1 });
    const values = await Promise.all(answers);
    expect(values[0]).toEqual({ version: 1 });
    expect(values.every((value) => value === values[0])).toBe(true);
  });

  it('cached key: younger than the refresh age → the same object, synchronously, without a load', async () => {
    const { cache, loads, warm, clock } = setUp();
    const value = { version: 1 };
    await warm('a', value);
    clock.atMs += 29_999;
    expect(cache.get('a')).toBe(value);
    expect(loads).toHaveLength(1);
  });

  it('ageing key: past the refresh age → served at once, renewed once in the background', async () => {
    const { cache, loads, warm, clock } = setUp();
    await warm('a', { version: 1 });
    clock.atMs += 30_000;
    expect(cache.get('a')).toEqual({ version: 1 });
    expect(cache.get('a')).toEqual({ version: 1 });
    expect(loads).toHaveLength(2);
    loads[1]?.end({ version: 2 });
    await settled();
    expect(cache.get('a')).toEqual({ version: 2 });
  });

  it('old key: at the maximum age → never served; the caller waits for the load', async () => {
    const { cache, loads, warm, clock } = setUp();
    await warm('a', { version: 1 });
    clock.atMs += 60_000;
    const answer = cache.get('a');
    expect(answer).toBeInstanceOf(Promise);
    loads[1]?.end({ version: 2 });
    expect(await answer).toEqual({ version: 2 });
  });

  it('age: counted from the start of the load → a slow load shortens the lifetime of its result', async () => {
    const { cache, loads, clock } = setUp();
    const answer = cache.get('a');
    clock.atMs += 59_000;
    loads[0]?.end({ version: 1 });
    await answer;
    clock.atMs += 1_000;
    expect(cache.get('a')).toBeInstanceOf(Promise);
  });

  it('miss: nothing found → cached for a shorter time, then queried again', async () => {
    const { cache, loads, warm, clock } = setUp();
    await warm('a', undefined);
    clock.atMs += 9_999;
    expect(cache.get('a')).toBeUndefined();
    expect(loads).toHaveLength(1);
    clock.atMs += 1;
    expect(cache.get('a')).toBeInstanceOf(Promise);
  });

  it('renewed: in memory, or being loaded → read again at once; the newest is served without waiting', async () => {
    const { cache, loads, warm } = setUp();
    await warm('a', { version: 1 });
    cache.renew('a');
    cache.renew('a');
    expect(loads).toHaveLength(3);
    loads[2]?.end({ version: 3 });
    loads[1]?.end({ version: 2 });
    await settled();
    expect(cache.get('a')).toEqual({ version: 3 });
  });

  it('renewed: not in use → not read; a read that fails → the next caller reads', async () => {
    const { cache, loads, warm } = setUp();
    cache.renew('a');
    expect(loads).toHaveLength(0);
    await warm('a', { version: 1 });
    cache.renew('a');
    loads[1]?.fail(new Error('database away'));
    await settled();
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(loads).toHaveLength(3);
  });

  it('refresh: the row is deleted → the snapshot is evicted', async () => {
    const { cache, loads, warm, clock } = setUp();
    await warm('a', { version: 1 });
    clock.atMs += 30_000;
    void cache.get('a');
    loads[1]?.end(undefined);
    await settled();
    expect(cache.get('a')).toBeUndefined();
  });

  it('refresh: fails → the old snapshot stays in use until it is too old, with one attempt per second', async () => {
    const { cache, loads, warm, clock } = setUp();
    await warm('a', { version: 1 });
    clock.atMs += 30_000;
    void cache.get('a');
    loads[1]?.fail(new Error('database away'));
    await settled();
    clock.atMs += 999;
    expect(cache.get('a')).toEqual({ version: 1 });
    expect(loads).toHaveLength(2);
    clock.atMs += 1;
    void cache.get('a');
    expect(loads).toHaveLength(3);
    loads[2]?.fail(new Error('database away'));
    await settled();
    clock.atMs += 29_000;
    const answer = cache.get('a');
    loads[3]?.fail(new Error('database still away'));
    await expect(answer).rejects.toThrow('database still away');
  });

  it('failed load: the next call → loads again instead of repeating the error', async () => {
    const { cache, loads } = setUp();
    const first = cache.get('a');
    loads[0]?.fail(new Error('database away'));
    await expect(first).rejects.toThrow('database away');
    const second = cache.get('a');
    loads[1]?.end({ version: 1 });
    expect(await second).toEqual({ version: 1 });
  });

  it('invalidation: a cached key → loaded again, other keys are not affected', async () => {
    const { cache, loads, warm } = setUp();
    await warm('a', { version: 1 });
    await warm('b', { version: 1 });
    cache.invalidate('a');
    expect(cache.get('b')).toEqual({ version: 1 });
    expect(cache.get('a')).toBeInstanceOf(Promise);
    expect(loads.map(({ key }) => key)).toEqual(['a', 'b', 'a']);
  });

  it('invalidation: a known miss → queried again at once', async () => {
    const { cache, warm } = setUp();
    await warm('a', undefined);
    cache.invalidate('a');
    expect(cache.get('a')).toBeInstanceOf(Promise);
  });

  it.each(['one key', 'all keys'])('invalidation of %s during a load → the older result is not kept', async (which) => {
    const { cache, loads } = setUp();
    const before = cache.get('a');
    if (which === 'one key') cache.invalidate('a');
    else cache.invalidateAll();
    const after = cache.get('a');
    expect(loads).toHaveLength(2);
    loads[1]?.end({ version: 2 });
    expect(await after).toEqual({ version: 2 });
    loads[0]?.end({ version: 1 });
    expect(await before).toEqual({ version: 1 });
    expect(cache.get('a')).toEqual({ version: 2 });
  });

  it('bound: more keys than allowed → the least recently used is dropped; misses never displace a snapshot', async () => {
    const { cache, warm } = setUp({ max: 2 });
    await warm('a', { version: 1 });
    await warm('b', { version: 1 });
    for (const stranger of ['x', 'y', 'z']) await warm(stranger, undefined);
    expect(cache.get('a')).toEqual({ version: 1 });
    await warm('c', { version: 1 });
    expect(cache.get('b')).toBeInstanceOf(Promise);
    expect(cache.get('a')).toEqual({ version: 1 });
  });
});
