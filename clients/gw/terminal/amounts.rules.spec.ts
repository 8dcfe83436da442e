import { expect, it } from '@jest/globals';
import { exactUsd, toSecond, usd } from './amounts.rules.js';

it.each([
  [0, '$0.00'],
  [0.000000001, '$0.000000001'],
  [1.5, '$1.50'],
  [0.1 + 0.2, '$0.30'],
  [-0.00125, '-$0.00125'],
  [123456.789, '$123456.789'],
  [10000.01, '$10000.01'],
  [9007199.254740991, '$9007199.254740991'],
  [10_000_000, '$10000000'],
])('exactUsd: %d → %s', (amount, text) => {
  expect(exactUsd(amount)).toBe(text);
});

it('usd: less than a cent → more decimals', () => {
  expect([0, 0.004, 12.345].map(usd)).toEqual(['$0.00', '$0.004000', '$12.35']);
});

it('toSecond → without the fraction', () => {
  expect(toSecond('2026-01-02T03:04:05.678Z')).toBe('2026-01-02T03:04:05Z');
});
