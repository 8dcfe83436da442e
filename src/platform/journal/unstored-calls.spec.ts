import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnstoredCalls } from './unstored-calls.js';

describe('calls without a stored event', () => {
  it('none → infinity', () => {
    expect(new UnstoredCalls().sinceMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('begun and ended in any order → the second of the oldest that is open', () => {
    const times = fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 9_999 }), ends: fc.boolean() }));
    fc.assert(
      fc.property(times, (calls) => {
        const unstored = new UnstoredCalls();
        for (const { atMs } of calls) unstored.begin(atMs);
        for (const { atMs, ends } of calls) if (ends) unstored.end(atMs);
        const open = calls.filter(({ ends }) => !ends).map(({ atMs }) => Math.floor(atMs / 1_000) * 1_000);
        expect(unstored.sinceMs).toBe(Math.min(Number.POSITIVE_INFINITY, ...open));
      }),
    );
  });
});
