import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WriteBatch } from './write-batch.js';

describe('WriteBatch', () => {
  let batches: number[][];
  /** Items to retry, one entry per attempt; none afterwards. */
  let retries: ((items: readonly number[]) => Promise<readonly number[]>)[];
  let batch: WriteBatch<number>;

  const all = async (items: readonly number[]) => items;

  beforeEach(() => {
    jest.useFakeTimers();
    batches = [];
    retries = [];
    batch = new WriteBatch<number>({
      maxItems: 3,
      gatherMs: 50,
      run: async (items) => {
        batches.push([...items]);
        return (await retries.shift()?.(items)) ?? [];
      },
    });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  function add(...items: number[]): void {
    for (const item of items) batch.add(item);
  }

  it('writes a partial batch after the collection time and a full batch at once', async () => {
    add(1, 2);
    await jest.advanceTimersByTimeAsync(49);
    expect(batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    add(3, 4, 5);
    await jest.advanceTimersByTimeAsync(0);
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('writes one batch at a time', async () => {
    let finish: (retry: number[]) => void = () => undefined;
    retries = [() => new Promise((resolve) => (finish = resolve))];
    add(1, 2, 3, 4, 5, 6, 7);
    await jest.advanceTimersByTimeAsync(1_000);
    expect([batches, batch.running, batch.waiting]).toEqual([[[1, 2, 3]], 3, 4]);
    finish([]);
    await jest.advanceTimersByTimeAsync(50);
    expect(batches.slice(1)).toEqual([[4, 5, 6], [7]]);
  });

  it('retries the rest of a failed batch first, with backoff, even when a full batch waits', async () => {
    retries = [async () => [2], all];
    add(1, 2);
    await jest.advanceTimersByTimeAsync(50);
    add(3, 4, 5);
    await jest.advanceTimersByTimeAsync(99);
    expect(batches).toEqual([[1, 2]]);
    await jest.advanceTimersByTimeAsync(1);
    expect(batches.slice(1)).toEqual([[2, 3, 4]]);
    await jest.advanceTimersByTimeAsync(199);
    expect(batches.length).toBe(2);
    await jest.advanceTimersByTimeAsync(1 + 50);
    expect(batches.slice(2)).toEqual([[2, 3, 4], [5]]);
  });

  it('run writes everything, or stops after a failed attempt', async () => {
    retries = [all];
    add(1, 2);
    await batch.run();
    expect([batches, batch.waiting]).toEqual([[[1, 2]], 2]);
    add(3, 4);
    await batch.run();
    expect([batches.slice(1), batch.waiting]).toEqual([[[1, 2, 3], [4]], 0]);
  });

  it('close returns the unwritten items and ends the background writes', async () => {
    add(1, 2);
    batch.dropOldest();
    expect(batch.close()).toEqual([2]);
    add(3, 4, 5);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(batches).toEqual([]);
  });
});
