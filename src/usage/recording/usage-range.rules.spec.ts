import { describe, expect, it } from '@jest/globals';
import { firstEventDay, monthsFrom } from './usage-range.rules.js';

describe('firstEventDay', () => {
  it('90 days back, over leap Februaries too', () => {
    expect(firstEventDay('2024-05-29')).toBe('2024-02-29');
    expect(firstEventDay('2026-03-01')).toBe('2025-12-01');
  });
});

describe('months', () => {
  it.each([
    ['2026-01', 3, ['2026-01', '2026-02', '2026-03']],
    ['2026-11', 3, ['2026-11', '2026-12', '2027-01']],
    [
      '2026-12',
      14,
      ['2026-12', ...Array.from({ length: 12 }, (_none, at) => `2027-${`0${at + 1}`.slice(-2)}`), '2028-01'],
    ],
    ['0999-12', 2, ['0999-12', '1000-01']],
    ['2026-05', 0, []],
  ])('%s and those after it, %d in all → %j', (month, count, months) => {
    expect(monthsFrom(month, count)).toEqual(months);
  });
});
