import { describe, expect, it } from '@jest/globals';
import { chartDays, csvOf, lastDays } from './periods.rules.js';

const EMPTY = {
  ...{ requests: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
  ...{ cost_usd: 0, estimated_cost_usd: 0, errors: 0, blocked: 0 },
};

describe('periods', () => {
  it('seven days end today, in UTC', () => {
    expect(lastDays(7, Date.parse('2026-03-02T00:00:00Z'))).toEqual({ from: '2026-02-24', to: '2026-03-02' });
  });
});

describe('days of a chart', () => {
  const period = { from: '2026-01-30', to: '2026-02-01' };
  const buckets = [
    { ...EMPTY, date: '2026-01-30', provider: 'openai', cost_usd: 1, requests: 2 },
    { ...EMPTY, date: '2026-02-01', provider: 'anthropic', cost_usd: 5, requests: 1 },
  ];

  it('every day is there, the largest series first', () => {
    expect(chartDays(buckets, 'cost', period)).toEqual({
      series: ['anthropic', 'openai'],
      days: [
        { date: '2026-01-30', openai: 1, anthropic: 0 },
        { date: '2026-01-31', openai: 0, anthropic: 0 },
        { date: '2026-02-01', openai: 0, anthropic: 5 },
      ],
    });
    expect(chartDays(buckets, 'requests', period).series).toEqual(['openai', 'anthropic']);
  });

  it('a provider called date → does not replace the date', () => {
    const { days } = chartDays([{ ...EMPTY, date: '2026-01-30', provider: 'date', requests: 1 }], 'requests', period);
    expect(days[0]?.date).toBe('2026-01-30');
  });
});

describe('CSV', () => {
  it('commas, quotes and line ends are quoted; formulas are texts', () => {
    expect(
      csvOf(
        ['a', 'b'],
        [
          ['x,y', 1],
          ['say "hi"\n', null],
          ['=1+1', -2],
          ['@cmd', 0],
        ],
      ),
    ).toBe(`a,b\r\n"x,y",1\r\n"say ""hi""\n",\r\n'=1+1,-2\r\n'@cmd,0`);
  });
});
