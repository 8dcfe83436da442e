import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { latencyOf, periodBefore } from './usage-period.rules.js';

describe('the previous period', () => {
  it.each([
    ['2026-11-20', '2026-11-20', '2026-11-19', '2026-11-19'],
    ['2026-11-14', '2026-11-20', '2026-11-07', '2026-11-13'],
    ['2026-10-22', '2026-11-20', '2026-09-22', '2026-10-21'],
    ['2026-10-01', '2026-10-31', '2026-09-01', '2026-09-30'],
    ['2026-02-01', '2026-02-28', '2026-01-01', '2026-01-31'],
    ['2026-01-01', '2026-01-31', '2025-12-01', '2025-12-31'],
    ['2026-11-01', '2026-11-20', '2026-10-01', '2026-10-20'],
    ['2026-11-01', '2026-11-01', '2026-10-01', '2026-10-01'],
    ['2026-03-01', '2026-03-30', '2026-02-01', '2026-02-28'],
    ['2026-10-01', '2026-11-30', '2026-08-01', '2026-09-30'],
    ['0000-01-01', '0000-01-02', '0000-01-01', '0000-01-01'],
  ])('%s to %s → %s to %s', (from, to, before, last) => {
    expect(periodBefore({ from, to })).toEqual({ from: before, to: last });
  });
});

describe('latencies', () => {
  it('no calls → no percentile', () => {
    expect(latencyOf([])).toEqual({ calls: 0, p50_ms: null, p95_ms: null });
  });

  it('any calls → percentiles by nearest rank, within 5 %', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 30, max: 600_000 }), { minLength: 1, maxLength: 200 }), (latencies) => {
        const classes = latencies.map((ms) => ({ class: Math.ceil(Math.log(ms) / Math.log(1.1)), requests: 1 }));
        const inOrder = latencies.toSorted((one, other) => one - other);
        const { calls, p50_ms, p95_ms } = latencyOf(classes);
        expect(calls).toBe(latencies.length);
        for (const [share, found] of [
          [0.5, p50_ms],
          [0.95, p95_ms],
        ] as const) {
          const exact = inOrder[Math.ceil(latencies.length * share) - 1] ?? 0;
          expect(Math.abs((found ?? 0) - exact)).toBeLessThanOrEqual(exact * 0.05 + 0.5);
        }
      }),
    );
  });
});
