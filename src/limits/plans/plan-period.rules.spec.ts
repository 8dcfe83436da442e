import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { epochMsOf, instantOf } from '../../common/clock.js';
import { periodAt } from './plan-period.rules.js';

function period(at: string, anchorDay: number): string[] {
  const { startDay, startMs, endMs } = periodAt(epochMsOf(at), anchorDay);
  return [startDay, instantOf(startMs).toISOString(), instantOf(endMs).toISOString()];
}

describe('periodAt', () => {
  it.each([
    ['2026-11-20T15:04:05Z', 1, '2026-11-01', '2026-12-01'],
    ['2026-11-20T15:04:05Z', 20, '2026-11-20', '2026-12-20'],
    ['2026-11-20T15:04:05Z', 21, '2026-10-21', '2026-11-21'],
    ['2026-11-20T00:00:00.000Z', 20, '2026-11-20', '2026-12-20'],
    ['2026-11-19T23:59:59.999Z', 20, '2026-10-20', '2026-11-20'],
    ['2027-01-05T00:00:00Z', 28, '2026-12-28', '2027-01-28'],
    ['2026-12-31T23:59:59Z', 15, '2026-12-15', '2027-01-15'],
    ['2027-03-31T12:00:00Z', 28, '2027-03-28', '2027-04-28'],
    ['2028-02-29T12:00:00Z', 28, '2028-02-28', '2028-03-28'],
    ['2027-03-27T12:00:00Z', 28, '2027-02-28', '2027-03-28'],
  ])('%s, day %i → from %s to %s', (at, anchorDay, from, to) => {
    expect(period(at, anchorDay)).toEqual([from, `${from}T00:00:00.000Z`, `${to}T00:00:00.000Z`]);
  });

  it('periods → follow each other without a gap, every instant in its own', () => {
    const instants = fc.integer({ min: epochMsOf('2000-01-01T00:00Z'), max: epochMsOf('2100-01-01T00:00Z') });
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 28 }), (nowMs, anchorDay) => {
        const { startMs, endMs } = periodAt(nowMs, anchorDay);
        expect(startMs).toBeLessThanOrEqual(nowMs);
        expect(nowMs).toBeLessThan(endMs);
        expect(instantOf(startMs).getUTCDate()).toBe(anchorDay);
        expect(periodAt(endMs, anchorDay).startMs).toBe(endMs);
        expect(periodAt(startMs - 1, anchorDay).endMs).toBe(startMs);
      }),
    );
  });
});
