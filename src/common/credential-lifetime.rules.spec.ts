import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isInForce, latestExpiryMs } from './credential-lifetime.rules.js';

const NOW = 1_790_000_000_000;
const HOUR = 3_600_000;

describe('ADR 0014: an expiry is valid within the lifetime of its credential', () => {
  it.each([
    ['one millisecond left', NOW + 1, true],
    ['over now', NOW, false],
    ['a whole lifetime left', NOW + HOUR, true],
    ['a lifetime and a minute left', NOW + HOUR + 60_000, true],
    ['a millisecond more than that', NOW + HOUR + 60_001, false],
    ['a year left', NOW + 365 * 24 * HOUR, false],
    ['for ever', Infinity, false],
    ['no time at all', Number.NaN, false],
  ])('%s', (_name, expiresAtMs, expected) => expect(isInForce(expiresAtMs, HOUR, NOW)).toBe(expected));

  it('written by any clock → nothing is valid for longer than its lifetime plus a minute', () => {
    const ms = fc.integer({ min: 0, max: 1e13 });
    fc.assert(
      fc.property(ms, ms, (writtenMs, nowMs) => {
        const expiresAtMs = writtenMs + HOUR;
        if (isInForce(expiresAtMs, HOUR, nowMs)) {
          expect(isInForce(expiresAtMs, HOUR, nowMs + HOUR + 60_000)).toBe(false);
          expect(expiresAtMs).toBeLessThanOrEqual(latestExpiryMs(HOUR, nowMs));
        }
      }),
    );
  });
});
