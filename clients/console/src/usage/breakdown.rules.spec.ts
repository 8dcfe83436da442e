import { describe, expect, it } from '@jest/globals';
import { MOST_ROWS, noteOf, timesText } from './breakdown.rules.js';

type Breakdown = Parameters<typeof noteOf>[0];
const breakdown = (members: object) =>
  ({
    from: '2026-01-01',
    complete_from: '2026-01-01',
    total: { cost_usd: 12 },
    rows: [],
    ...members,
  }) as unknown as Breakdown;

const NO_TIMES = { latency: null };

describe('the note above a breakdown', () => {
  it('a period that is kept whole → shares of the whole period', () => {
    expect(noteOf(breakdown({}), 'cost')).toBe('Shares are of $12.00, all cost of the period.');
  });

  it('a period whose beginning is no longer stored → not described as the whole period', () => {
    expect(noteOf(breakdown({ complete_from: '2026-01-20' }), 'cost')).toBe(
      'Shares are of $12.00, all cost since 2026-01-20; earlier days are no longer kept in this detail.',
    );
  });

  it('more rows than are shown → says which are shown, and where the others are', () => {
    expect(noteOf(breakdown({ rows: Array(MOST_ROWS).fill(NO_TIMES) }), 'cost')).toContain('the CSV file has all');
    expect(noteOf(breakdown({ rows: Array(MOST_ROWS - 1).fill(NO_TIMES) }), 'cost')).not.toContain('CSV');
  });
});

describe('times of a row', () => {
  it('two percentiles → both; without calls, or of a dimension without times → a dash', () => {
    expect(timesText({ calls: 2, p50_ms: 840, p95_ms: 2_310 })).toBe('840 ms / 2.3 s');
    expect(timesText({ calls: 0, p50_ms: null, p95_ms: null })).toBe('—');
    expect(timesText(null)).toBe('—');
  });
});
