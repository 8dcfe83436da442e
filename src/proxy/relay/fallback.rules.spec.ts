import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attemptTimeMs, isTargetFailure } from './fallback.rules.js';

describe('isTargetFailure', () => {
  it.each([429, 500, 502, 503, 504, 529, 599])('status %d → the next target', (status) => {
    expect(isTargetFailure(status)).toBe(true);
  });

  it.each([200, 204, 301, 302, 304, 400, 401, 403, 404, 408, 409, 413, 422, 428, 430, 451, 499])(
    'status %d → final',
    (status) => {
      expect(isTargetFailure(status)).toBe(false);
    },
  );
});

describe('attemptTimeMs (ADR 0015)', () => {
  it.each([
    ['alone', { leftMs: 120, following: 0 }, 120],
    ['one after it', { leftMs: 120, following: 1 }, 90],
    ['two after it', { leftMs: 120, following: 2 }, 60],
    ['three after it', { leftMs: 120, following: 3 }, 30],
    ['more than the reserve can serve → an equal share', { leftMs: 120, following: 4 }, 24],
    ['late, one after it → half of what is left', { leftMs: 20, following: 1 }, 10],
    ['nothing left', { leftMs: 0, following: 2 }, 0],
    ['less than nothing left', { leftMs: -5, following: 0 }, 0],
  ])('of 120: %s', (_name, time, expected) => {
    expect(attemptTimeMs({ totalMs: 120, ...time })).toBe(expected);
  });

  it('any chain in which every target uses its time up → never longer than the whole, and each gets its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), fc.integer({ min: 1, max: 11 }), (totalMs, targets) => {
        let leftMs = totalMs;
        for (let following = targets - 1; following >= 0; following--) {
          const timeMs = attemptTimeMs({ totalMs, leftMs, following });
          expect(timeMs).toBeGreaterThanOrEqual((totalMs / Math.max(4, targets)) * 0.999_999);
          leftMs -= timeMs;
        }
        expect(leftMs).toBeGreaterThanOrEqual(-0.001);
      }),
    );
  });
});
