import { describe, expect, it } from '@jest/globals';
import { oldPartitions } from './old-partitions.rules.js';

describe('partitions that are old as a whole (specification "Retention")', () => {
  it.each([
    ['2026-01-31', []],
    ['2026-02-01', ['usage_events_2026_01']],
    ['2026-02-28', ['usage_events_2026_01']],
    ['2026-03-01', ['usage_events_2026_01', 'usage_events_2026_02']],
  ])('events of before %s go → %j', (before, old) => {
    expect(oldPartitions(['usage_events_2026_01', 'usage_events_2026_02', 'usage_events_2026_03'], before)).toEqual(
      old,
    );
  });

  it('December → ends with the year', () => {
    expect(oldPartitions(['usage_events_2025_12'], '2025-12-31')).toEqual([]);
    expect(oldPartitions(['usage_events_2025_12'], '2026-01-01')).toEqual(['usage_events_2025_12']);
  });

  it('any other table → stays, however old it looks', () => {
    const others = [
      'usage_events_default',
      'usage_events_2026_01_old',
      'x_usage_events_2026_01',
      'usage_events_2026_1',
    ];
    expect(oldPartitions(others, '2030-01-01')).toEqual([]);
  });
});
