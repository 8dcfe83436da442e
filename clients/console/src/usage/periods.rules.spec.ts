import { describe, expect, it } from '@jest/globals';
import {
  changeText,
  chartOf,
  csvOf,
  emptyText,
  errorRateOf,
  lastDays,
  OTHERS,
  periodChoices,
  periodOf,
} from './periods.rules.js';

const NOW_MS = Date.parse('2026-03-02T13:20:00Z');
const EMPTY = {
  ...{ requests: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
  ...{ cost_usd: 0, estimated_cost_usd: 0, errors: 0, blocked: 0 },
};

describe('an empty period', () => {
  it.each([
    { to: '2026-03-14', says: 'The period is over.' },
    { to: '2026-03-15', says: 'Calls appear here' },
    { to: '2026-03-31', says: 'Calls appear here' },
  ])('until $to, on 2026-03-15 → $says', ({ to, says }) => {
    expect(emptyText({ from: '2026-03-01', to }, Date.parse('2026-03-15T23:59:59Z'))).toContain(says);
  });
});

describe('periods', () => {
  it('seven days end today, in UTC', () => {
    expect(lastDays(7, NOW_MS)).toEqual({ from: '2026-02-24', to: '2026-03-02' });
  });

  it.each([
    ['', { choice: '30', from: '2026-02-01', to: '2026-03-02', unit: 'day' }],
    ['period=today', { choice: 'today', from: '2026-03-02', to: '2026-03-02', unit: 'hour' }],
    ['period=7', { choice: '7', from: '2026-02-24', to: '2026-03-02', unit: 'day' }],
    ['period=2026-02', { choice: '2026-02', from: '2026-02-01', to: '2026-02-28', unit: 'day' }],
    ['period=2026-03', { choice: '2026-03', from: '2026-03-01', to: '2026-03-02', unit: 'day' }],
    ['from=2026-01-30&to=2026-02-01', { choice: 'days', from: '2026-01-30', to: '2026-02-01', unit: 'day' }],
  ])('address %j → its days', (address, expected) => {
    expect(periodOf(new URLSearchParams(address), NOW_MS)).toEqual(expected);
  });

  it.each(['period=2026-13', 'period=8', 'period=x', 'from=2026-02-30&to=2026-03-01', 'from=2026-02-02&to=2026-02-01'])(
    'address %j → the last thirty days',
    (address) => {
      expect(periodOf(new URLSearchParams(address), NOW_MS)).toMatchObject({ choice: '30' });
    },
  );

  it('choices → each is a different period', () => {
    const choices = periodChoices(NOW_MS).map(({ value }) => value);
    expect(choices).toContain('2026-02');
    for (const choice of choices.filter((value) => value !== 'days')) {
      expect(periodOf(new URLSearchParams({ period: choice }), NOW_MS).choice).toBe(choice);
    }
  });
});

describe('charts', () => {
  const period = { choice: 'days', from: '2026-02-28', to: '2026-03-02', unit: 'day' } as const;
  const buckets = [
    { ...EMPTY, start: '2026-02-28', key: 'openai', cost_usd: 1, requests: 2 },
    { ...EMPTY, start: '2026-03-02', key: 'anthropic', cost_usd: 5, requests: 1 },
  ];

  it('every day is present, the largest series comes first; today is unfinished', () => {
    expect(chartOf(buckets, 'cost', period, NOW_MS)).toEqual({
      series: ['anthropic', 'openai'],
      points: [
        { start: '2026-02-28', openai: 1, anthropic: 0 },
        { start: '2026-03-01', openai: 0, anthropic: 0 },
        { start: '2026-03-02', openai: 0, anthropic: 5 },
      ],
      total: 6,
      unfinished: '2026-03-02',
    });
    expect(chartOf(buckets, 'requests', period, NOW_MS).series).toEqual(['openai', 'anthropic']);
  });

  it('hours of today → the whole day; the current hour is unfinished', () => {
    const today = periodOf(new URLSearchParams('period=today'), NOW_MS);
    const hour = { ...EMPTY, start: '2026-03-02T13:00:00Z', key: 'ok', blocked: 3 };
    const { points, unfinished } = chartOf([hour], 'refused', today, NOW_MS);
    expect([points.length, points[13]]).toEqual([24, { start: hour.start, ok: 3 }]);
    expect(unfinished).toBe(hour.start);
  });

  it('a past period → nothing is unfinished', () => {
    const over = { ...period, to: '2026-03-01' };
    expect(chartOf(buckets, 'cost', over, NOW_MS).unfinished).toBeUndefined();
  });

  it('a series called start → does not replace the date', () => {
    const { points } = chartOf(
      [{ ...EMPTY, start: '2026-02-28', key: 'start', requests: 1 }],
      'requests',
      period,
      NOW_MS,
    );
    expect(points[0]?.start).toBe('2026-02-28');
  });

  it('more series than colours → the smallest are combined', () => {
    const many = Array.from({ length: 10 }, (_none, at) => ({
      ...{ ...EMPTY, start: '2026-03-01', key: `m${at}`, requests: 10 - at },
    }));
    const { series, points, total } = chartOf(many, 'requests', period, NOW_MS);
    expect(series).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6', OTHERS]);
    expect([points[1]?.[OTHERS], total]).toEqual([6, 55]);
  });
});

describe('figures', () => {
  it.each([
    [0, 0, 'as before'],
    [3, 0, 'none in the period before'],
    [112, 100, '+12%'],
    [92, 100, '−8%'],
    [1000, 1001, 'as before'],
  ])('%d after %d → %s', (now, before, text) => {
    expect(changeText(now, before)).toBe(text);
  });

  it('error rate → of calls that reached a provider', () => {
    expect(errorRateOf({ ...EMPTY, requests: 10, blocked: 6, errors: 1 })).toBe(0.25);
    expect(errorRateOf({ ...EMPTY, requests: 6, blocked: 6 })).toBeUndefined();
  });
});

describe('CSV', () => {
  it('commas, quotes and line ends are quoted; formulas become text', () => {
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
