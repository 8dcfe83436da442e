import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { divideHalfUp, toDecimal } from './model-price.js';

describe('toDecimal', () => {
  it.each([
    [0, 0n, 0],
    [-0, 0n, 0],
    [12.34, 1234n, 2],
    [0.1 + 0.2, 30000000000000004n, 17],
    [1e-7, 1n, 7],
    [2.5e-9, 25n, 10],
    [1.5e21, 1500000000000000000000n, 0],
    [123456.789012, 123456789012n, 6],
  ])('decimal: %p → its shortest spelling', (value, digits, scale) => {
    expect(toDecimal(value)).toEqual({ digits, scale });
  });

  it('decimal: any non-negative number → parses to the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (value) => {
        const { digits, scale } = toDecimal(value);
        expect(scale).toBeGreaterThanOrEqual(0);
        expect(Number(`${digits}e-${scale}`)).toBe(value);
      }),
    );
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('decimal: %p → refused', (value) => {
    expect(() => toDecimal(value)).toThrow(RangeError);
  });
});

describe('divideHalfUp', () => {
  it.each([
    [0n, 7n, 0n],
    [49n, 100n, 0n],
    [50n, 100n, 1n],
    [149n, 100n, 1n],
    [150n, 100n, 2n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
  ])('division: %p by %p → %p', (numerator, denominator, expected) => {
    expect(divideHalfUp(numerator, denominator)).toBe(expected);
  });
});
