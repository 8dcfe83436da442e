import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countsUnknown, requestLimitRefusal, shareOf, windowIndex } from './request-limit.rules.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);

describe('share of an instance', () => {
  it('any limit and number of instances → the shares add up to what remains', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 10_000 }), fc.integer({ min: 1, max: 40 }), (remaining, instances) => {
        const shares = Array.from({ length: instances }, (_, rank) => shareOf(remaining, instances, rank));
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(Math.max(0, remaining));
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('an instance that underestimates the remainder → gets no more', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_000), fc.integer({ min: 1, max: 9 }), fc.nat(8), (one, more, of, rank) => {
        fc.pre(rank < of);
        expect(shareOf(one, of, rank)).toBeLessThanOrEqual(shareOf(one + more, of, rank));
      }),
    );
  });

  it('the counts are unknown → a share of zero', () => {
    expect(shareOf(100 - Number.POSITIVE_INFINITY, 3, 0)).toBe(0);
  });
});

describe('windows', () => {
  it.each([
    ['minute', Date.UTC(2030, 0, 1, 0, 0, 59, 999), Date.UTC(2030, 0, 1, 0, 0, 0), true],
    ['minute', Date.UTC(2030, 0, 1, 0, 1, 0, 0), Date.UTC(2030, 0, 1, 0, 0, 59, 999), false],
    ['day', Date.UTC(2030, 0, 1, 23, 59, 59, 999), Date.UTC(2030, 0, 1), true],
    ['day', Date.UTC(2030, 0, 2), Date.UTC(2030, 0, 1, 23, 59, 59, 999), false],
  ] as const)('%s of two instants', (kind, one, other, isSame) => {
    expect(windowIndex(kind, one) === windowIndex(kind, other)).toBe(isSame);
  });
});

describe('refusal', () => {
  it.each([
    ['user', 'minute', 40, 'The limit of 3 requests per minute for one user of this application is reached'],
    ['app', 'day', 43_180, 'The limit of 3 requests per UTC day for this application is reached'],
  ] as const)('%s, %s → data is the scope, Retry-After the end of the window', (scope, kind, seconds, message) => {
    const index = windowIndex(kind, NOON);
    const refusal = requestLimitRefusal(scope, kind, { limit: 3, index, nowMs: NOON });
    expect(refusal).toMatchObject({
      code: 'app_rate_limited',
      status: 429,
      data: { scope },
      retryAfterSeconds: seconds,
      reason: `${scope}_${kind}_limit_reached`,
      message: `${message}; try again in ${seconds} s.`,
    });
  });

  it('any instant → Retry-After is whole seconds, at least 1, and not before the window ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: NOON, max: NOON + 200_000_000 }), (nowMs) => {
        const index = windowIndex('minute', nowMs);
        const { retryAfterSeconds = 0 } = requestLimitRefusal('app', 'minute', { limit: 1, index, nowMs });
        expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 60).toBe(true);
        expect(windowIndex('minute', nowMs + retryAfterSeconds * 1_000)).toBe(index + 1);
      }),
    );
  });

  it('the count is unknown → 503 with Retry-After', () => {
    expect(countsUnknown()).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 1 });
  });
});
