import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.rules.js';

describe('back-off', () => {
  it('failure after failure → 100 ms, doubling, never above 2 s', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backoffMs(failures))).toEqual([
      100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000,
    ]);
  });

  it('other bounds → kept', () => {
    expect([1, 2, 3].map((failures) => backoffMs(failures, { minMs: 10, maxMs: 25 }))).toEqual([10, 20, 25]);
  });
});
