import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  countText,
  durationText,
  moneyText,
  moneyTickText,
  priceText,
  shareText,
  shortCountText,
} from './amounts.rules.js';

describe('money', () => {
  it.each([
    [0, '$0.00'],
    [1234.5, '$1,234.50'],
    [0.01, '$0.01'],
    [0.0000104, '$0.0000104'],
    [2e-7, '$0.0000002'],
    [0.00999, '$0.00999'],
    [-0.0002, '-$0.0002'],
  ])('%d → %s', (usd, text) => expect(moneyText(usd)).toBe(text));

  it.each([
    [0, '$0'],
    [0.015, '$0.015'],
    [0.0000025, '$0.0000025'],
    [0.1 + 0.2, '$0.3'],
    [1250, '$1,250'],
  ])('at an axis: %d → %s', (usd, text) => expect(moneyTickText(usd)).toBe(text));

  it('any amount other than zero → neither an exponent nor zero', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), (usd) => {
        const text = moneyText(usd);
        expect(text).not.toMatch(/e/i);
        expect(Number(text.replace(/[$,]/g, ''))).toBeGreaterThan(0);
      }),
    );
  });

  it('a price keeps its digits', () => expect([0.075, 2.5, 15].map(priceText)).toEqual(['$0.075', '$2.50', '$15']));
});

describe('counts, shares, durations', () => {
  it('long and short', () => {
    expect([countText(1_234_567), shortCountText(9_999), shortCountText(1_234_567)]).toEqual([
      ...['1,234,567', '9,999', '1.2M'],
    ]);
  });

  it('a small share is not zero', () => {
    expect([shareText(0, 5), shareText(1, 1_000), shareText(1, 4), shareText(999, 1_000), shareText(1, 0)]).toEqual([
      '0%',
      '<1%',
      '25%',
      '>99%',
      '100%',
    ]);
  });

  it('milliseconds, then seconds', () => expect([12.4, 12_400].map(durationText)).toEqual(['12 ms', '12.4 s']));
});
