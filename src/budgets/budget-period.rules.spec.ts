import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BUDGET_WINDOWS, budgetPeriodOf, latestEndFirst } from './budget-period.rules.js';

const at = (instant: string) => Date.parse(instant);
const ENDLESS = Number.POSITIVE_INFINITY;

describe('budget period', () => {
  it.each([
    ['day', '2026-11-20T12:00:00Z', '2026-11-20', '2026-11-21'],
    ['day', '2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01'],
    ['week', '2026-11-29T23:59:59.999Z', '2026-11-23', '2026-11-30'],
    ['week', '2026-11-30T00:00:00Z', '2026-11-30', '2026-12-07'],
    ['week', '1970-01-01T00:00:00Z', '1969-12-29', '1970-01-05'],
    ['week', '1969-12-28T12:00:00Z', '1969-12-22', '1969-12-29'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
    ['month', '2028-02-29T00:00:00Z', '2028-02-01', '2028-03-01'],
  ] as const)('%s of %s → begins on %s, ends at %s', (window, instant, start, next) => {
    expect(budgetPeriodOf(window, at(instant))).toEqual({ window, start, startMs: at(start), endMs: at(next) });
  });

  it.each(['total', 'run'] as const)('%s → has no end', (window) => {
    expect(budgetPeriodOf(window, at('2026-11-20'))).toEqual({
      window,
      start: '1970-01-01',
      startMs: 0,
      endMs: ENDLESS,
    });
  });

  it('any instant → within its period, which is the same for its first and last instant', () => {
    const instants = fc.date({ min: new Date(0), max: new Date('9998-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(instants, fc.constantFrom(...BUDGET_WINDOWS), (instant, window) => {
        const period = budgetPeriodOf(window, instant.getTime());
        expect(instant.getTime()).toBeGreaterThanOrEqual(period.startMs);
        expect(instant.getTime()).toBeLessThan(period.endMs);
        expect(budgetPeriodOf(window, period.startMs)).toEqual(period);
        if (period.endMs !== ENDLESS) expect(budgetPeriodOf(window, period.endMs - 1)).toEqual(period);
      }),
    );
  });
});

describe('order of refusals', () => {
  const named = (instant: string, ...windows: ('day' | 'week' | 'month' | 'total')[]) =>
    latestEndFirst(
      windows.map((window) => ({ window })),
      at(instant),
    ).map(({ window }) => window);

  it.each([
    ['2026-11-10T12:00:00Z', ['total', 'month', 'week', 'day']],
    ['2026-11-30T12:00:00Z', ['total', 'week', 'month', 'day']],
  ] as const)('at %s → %p', (instant, expected) => {
    expect(named(instant, 'total', 'month', 'week', 'day')).toEqual(expected);
  });

  it('a single budget → unchanged', () => {
    expect(named('2026-11-30', 'day')).toEqual(['day']);
  });
});
