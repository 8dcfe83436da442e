import { expect, it } from '@jest/globals';
import { AppCounts } from './scope-counts.js';

it('queries for unknown users → ten per second', () => {
  const app = new AppCounts('app');
  const granted = (nowMs: number) => Array.from({ length: 25 }, () => app.mayLookUp(nowMs)).filter(Boolean).length;
  expect([granted(1_000), granted(1_999), granted(2_000)]).toEqual([10, 0, 10]);
});
