import { describe, expect, it } from '@jest/globals';
import { barWidth, shareOf } from './cost-share.rules';

const usage = (cost_usd: number, estimated_cost_usd = 0) => ({ cost_usd, estimated_cost_usd });

describe('shareOf', () => {
  it('with a budget → bar and text show the share of the budget, whatever all applications cost', () => {
    for (const total of [0, 10, 4_000]) {
      const { part, all, label } = shareOf(usage(10), 40, total);
      expect([barWidth(part, all), label]).toEqual([25, 'of $40.00']);
    }
  });

  it('estimates → count against the budget, as the gateway counts them', () => {
    const { part, all } = shareOf(usage(10, 10), 40, 100);
    expect(barWidth(part, all)).toBe(50);
  });

  it('without a budget → share of the total cost', () => {
    const { part, all, label } = shareOf(usage(10), null, 40);
    expect([barWidth(part, all), label]).toEqual([25, 'of all']);
  });
});

it.each([
  [0, 0, 0],
  [1, 0, 100],
  [50, 40, 100],
  [10, 40, 25],
])('bar of %d of %d → %d %%', (part, all, width) => {
  expect(barWidth(part, all)).toBe(width);
});
