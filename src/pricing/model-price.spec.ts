import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compilePrice, isBillable, type ModelPrice } from './model-price.js';

const NANO = 1_000_000_000;

describe('isBillable', () => {
  it.each<[ModelPrice, boolean]>([
    [{ input: 1, output: 2 }, true],
    [{ input: 0, output: 0 }, true],
    [{ per_minute: 0.006 }, true],
    [{ per_hour: 0 }, true],
    [{ input: 1 }, false],
    [{ output: 1 }, false],
    [{}, false],
    [{ input: Number.NaN, output: 1 }, false],
    [{ input: 1, output: Number.POSITIVE_INFINITY }, false],
    [{ per_minute: -1 }, false],
  ])('billable: %p → %p', (price, expected) => {
    expect(isBillable(price)).toBe(expected);
  });
});

describe('compilePrice', () => {
  it('rates: only input and output → all others fall back to them', () => {
    expect(compilePrice({ input: 2, output: 8 }).tokens).toEqual({
      input: 2 * NANO,
      cachedInput: 2 * NANO,
      cacheWrite: 2 * NANO,
      output: 8 * NANO,
      audioInput: 2 * NANO,
      audioCachedInput: 2 * NANO,
      audioOutput: 8 * NANO,
      cacheWrite1h: 2 * NANO,
      imageInput: 2 * NANO,
      videoInput: 2 * NANO,
      imageCachedInput: 2 * NANO,
      textOutput: 8 * NANO,
      imageOutput: 8 * NANO,
      videoOutput: 8 * NANO,
      reasoningOutput: 8 * NANO,
      citationOutput: 8 * NANO,
      highestInputRate: 2 * NANO,
      highestOutputRate: 8 * NANO,
    });
  });

  it('rates: cached audio without its own rate → the cached rate', () => {
    expect(compilePrice({ input: 2, output: 8, cached_input: 0.5, audio_input: 40 }).tokens).toMatchObject({
      audioInput: 40 * NANO,
      audioCachedInput: 0.5 * NANO,
    });
  });

  it('long context: long rates → replace the normal ones', () => {
    const price: ModelPrice = {
      ...{ input: 1, output: 2, cached_input: 0.5, cache_write: 3, long_context_threshold: 1000 },
      ...{ long_input: 4, long_output: 5, long_cached_input: 6, long_cache_write: 7 },
    };
    expect(compilePrice(price).longContext).toMatchObject({
      thresholdTokens: 1000,
      tokens: { input: 4 * NANO, output: 5 * NANO, cachedInput: 6 * NANO, cacheWrite: 7 * NANO },
    });
  });

  it('long context: no long rate for a bucket → its normal rate, else the long input rate', () => {
    const price: ModelPrice = { input: 1, output: 2, cached_input: 0.5, long_context_threshold: 1000, long_input: 4 };
    expect(compilePrice(price).longContext?.tokens).toMatchObject({
      output: 2 * NANO,
      cachedInput: 0.5 * NANO,
      cacheWrite: 4 * NANO,
    });
  });

  it('time: an hourly price → no token rates', () => {
    expect(compilePrice({ per_hour: 0.1 })).toEqual({
      tokens: undefined,
      longContext: undefined,
      nanoUsdPerMinute: undefined,
      nanoUsdPerHour: 100_000_000,
    });
  });

  it('exactness: any rate of nine decimals up to a million dollars → its nano-dollars without drift', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 15 }), (nanoUsd) => {
        const digits = String(nanoUsd).padStart(10, '0');
        const usd = Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`);
        expect(compilePrice({ per_minute: usd }).nanoUsdPerMinute).toBe(nanoUsd);
      }),
    );
  });

  it('exactness: decimals beyond the ninth → rounded half up', () => {
    expect(compilePrice({ per_minute: 0.1234567895 }).nanoUsdPerMinute).toBe(123_456_790);
    expect(compilePrice({ per_minute: 4e-10 }).nanoUsdPerMinute).toBe(0);
  });

  it.each([-1, Number.NaN, 1e300])('refusal: a rate of %p → RangeError', (rate) => {
    expect(() => compilePrice({ per_minute: rate })).toThrow(RangeError);
  });
});
