import { describe, expect, it } from '@jest/globals';
import { whenResolved } from './maybe-promise.js';

const double = (value: number) => value * 2;
const fail = () => {
  throw new Error('refused');
};

describe('whenReady', () => {
  it('value available → the next value at once, without a promise', () => {
    expect(whenResolved(21, double)).toBe(42);
  });

  it('promised value → a promise of the next value', async () => {
    const next = whenResolved(Promise.resolve(21), double);
    expect(next).toBeInstanceOf(Promise);
    expect(await next).toBe(42);
  });

  it('next that returns a promise → that promise', async () => {
    expect(await whenResolved(1, async (value) => value + 1)).toBe(2);
  });

  it('next that throws → thrown at once, or rejected when the value was promised', async () => {
    expect(() => whenResolved(1, fail)).toThrow('refused');
    await expect(whenResolved(Promise.resolve(1), fail)).rejects.toThrow('refused');
  });
});
