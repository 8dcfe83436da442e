import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toMonthUsage, toUsageTotals, toUsd } from './usage-totals.rules.js';

const row = {
  app_id: 'notes-abc123',
  requests: '3',
  input_tokens: '9007199254740991',
  cached_input_tokens: '1',
  cache_write_tokens: '2',
  output_tokens: '4',
  cost_nano_usd: '1500000000',
  estimated_nano_usd: '250000000',
  errors: '1',
  blocked: '2',
};

describe('usage totals', () => {
  it('sums as Postgres writes them → numbers in dollars', () => {
    expect(toUsageTotals(row)).toEqual({
      requests: 3,
      input_tokens: Number.MAX_SAFE_INTEGER,
      cached_input_tokens: 1,
      cache_write_tokens: 2,
      output_tokens: 4,
      cost_usd: 1.5,
      estimated_cost_usd: 0.25,
      errors: 1,
      blocked: 2,
    });
  });

  it('nothing used → zeros', () => {
    expect(Object.values(toMonthUsage(undefined))).toEqual(Array(7).fill(0));
  });

  it('any amount → the number nearest to its decimal notation', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 }), fc.nat({ max: 999_999_999 }), (dollars, nano) => {
        const whole = dollars % 9_000_000;
        const text = `${whole}.${String(nano).padStart(9, '0')}`;
        expect(toUsd(String(BigInt(whole) * 1_000_000_000n + BigInt(nano)))).toBe(Number(text));
      }),
    );
  });
});
