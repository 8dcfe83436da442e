import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../test/support/jest/fuzz-runs.js';
import { type BillableUsage, costNanoUsd } from './cost.rules.js';
import { compilePrice, type ModelPrice } from './model-price.js';

const NOTHING: BillableUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  audioInputTokens: 0,
  audioCachedInputTokens: 0,
  audioOutputTokens: 0,
};
const UNRESOLVED = { unresolved: 'no_priced_measure' };
const LONG: ModelPrice = {
  ...{ input: 4, output: 20, cached_input: 0.4, cache_write: 5, long_context_threshold: 272_000 },
  ...{ long_input: 8, long_output: 30, long_cached_input: 0.8, long_cache_write: 10 },
};

function costOf(price: ModelPrice, usage: Partial<BillableUsage>) {
  return costNanoUsd(compilePrice(price), { ...NOTHING, ...usage });
}

describe('costNanoUsd: tokens', () => {
  it('buckets: each at its own rate → summed', () => {
    const usage = { inputTokens: 1000, cachedInputTokens: 2000, cacheWriteTokens: 300, outputTokens: 500 };
    expect(costOf(LONG, usage)).toEqual({ nanoUsd: 4_000_000 + 800_000 + 1_500_000 + 10_000_000 });
  });

  it('long context: prompt exactly at the threshold → normal rates', () => {
    const usage = { inputTokens: 200_000, cachedInputTokens: 72_000, outputTokens: 1 };
    expect(costOf(LONG, usage)).toEqual({ nanoUsd: 800_000_000 + 28_800_000 + 20_000 });
  });

  it('long context: one token above, including cached ones → long rates for the whole request', () => {
    const usage = { inputTokens: 200_000, cachedInputTokens: 72_000, cacheWriteTokens: 1, outputTokens: 1 };
    expect(costOf(LONG, usage)).toEqual({ nanoUsd: 1_600_000_000 + 57_600_000 + 10_000 + 30_000 });
  });

  it('audio: part of a bucket → audio rate for that part only', () => {
    const price = { input: 1, output: 2, cached_input: 0.5, audio_input: 10, cached_audio_input: 5, audio_output: 20 };
    const text = { inputTokens: 100, cachedInputTokens: 100, outputTokens: 100 };
    const audio = { audioInputTokens: 40, audioCachedInputTokens: 30, audioOutputTokens: 20 };
    expect(costOf(price, { ...text, ...audio })).toEqual({
      nanoUsd: 60 * 1000 + 40 * 10_000 + 70 * 500 + 30 * 5000 + 80 * 2000 + 20 * 20_000,
    });
  });

  it('parts of buckets: each at its own rate, unknown kinds at the most expensive rate of the side', () => {
    const price = {
      ...{ input: 1, output: 50, cached_input: 0.5, cache_write: 2, cache_write_1h: 4, image_input: 6, video_input: 7 },
      ...{ cached_image_input: 3, text_output: 10, image_output: 50, video_output: 40, audio_output: 60 },
    };
    const buckets = { inputTokens: 100, cachedInputTokens: 100, cacheWriteTokens: 100, outputTokens: 100 };
    const parts = {
      ...{ cache_write_1h: 30, image_input: 20, video_input: 10, unknown_input: 5, cached_image_input: 40 },
      ...{ text_output: 50, image_output: 20, video_output: 10, unknown_output: 5 },
    };
    const outputNanoUsd = 50 * 10_000 + (20 + 15) * 50_000 + 10 * 40_000 + 5 * 60_000;
    expect(costOf(price, { ...buckets, parts })).toEqual({
      nanoUsd:
        65 * 1_000 + 20 * 6_000 + 15 * 7_000 + (60 * 500 + 40 * 3_000) + (70 * 2_000 + 30 * 4_000) + outputNanoUsd,
    });
  });

  it('parts: without their own rates → the rate of the bucket; more parts than the bucket → never more than the bucket', () => {
    const parts = { cache_write_1h: 500, image_input: 500, unknown_input: 500, text_output: 500, image_output: 500 };
    const buckets = { inputTokens: 100, cacheWriteTokens: 100, outputTokens: 100 };
    expect(costOf({ input: 1, output: 2, cache_write: 3 }, { ...buckets, parts })).toEqual({ nanoUsd: 600_000 });
  });

  it('calls: per thousand; requests by the context size of their search', () => {
    const searches = { input: 1, output: 1, per_1k_web_searches: 10, per_1k_file_searches: 2.5 };
    expect(costOf(searches, { inputTokens: 1, parts: { web_search: 3, file_search: 1 } })).toEqual({
      nanoUsd: 32_501_000,
    });
    const requests = {
      ...{
        input: 1,
        output: 1,
        per_1k_requests: 12,
        per_1k_requests_low_context: 5,
        per_1k_requests_medium_context: 8,
      },
    };
    expect(costOf(requests, { inputTokens: 1 })).toEqual({ nanoUsd: 12_001_000 });
    expect(costOf(requests, { inputTokens: 1, parts: { low_context_search: 1 } })).toEqual({ nanoUsd: 5_001_000 });
    expect(costOf(requests, { inputTokens: 1, parts: { medium_context_search: 1 } })).toEqual({ nanoUsd: 8_001_000 });
    expect(costOf({ input: 1, output: 1 }, { inputTokens: 1, parts: { web_search: 3 } })).toEqual({ nanoUsd: 1_000 });
  });

  it('audio: no audio rate → the rate of the bucket', () => {
    expect(costOf({ input: 1, output: 2 }, { inputTokens: 100, audioInputTokens: 40 })).toEqual({ nanoUsd: 100_000 });
  });

  it('audio: more audio than the bucket → never below 0 and never counted twice', () => {
    const price = { input: 1, output: 2, audio_input: 10 };
    expect(costOf(price, { inputTokens: 10, audioInputTokens: 40 })).toEqual({ nanoUsd: 100_000 });
  });

  it.each([
    [499, 0],
    [500, 1],
    [1499, 1],
    [1500, 2],
  ])('rounding: %p thousandths of a nano-dollar → %p, once at the end', (inputTokens, nanoUsd) => {
    expect(costOf({ input: 0.000001, output: 0 }, { inputTokens })).toEqual({ nanoUsd });
  });

  it('rounding: two halves in two buckets → one nano-dollar, not two', () => {
    const usage = { inputTokens: 500, outputTokens: 500 };
    expect(costOf({ input: 0.000001, output: 0.000001 }, usage)).toEqual({ nanoUsd: 1 });
  });

  it('exactness: any usage and rates → equal to a reference in big integers', () => {
    const tokens = fc.integer({ min: 0, max: 10 ** 9 });
    const nano = fc.oneof(fc.integer({ min: 0, max: 10 ** 15 }), fc.integer({ min: 0, max: 10 ** 10 }));
    fc.assert(
      fc.property(fc.array(tokens, { minLength: 4, maxLength: 4 }), fc.array(nano, { minLength: 4 }), (used, rates) => {
        const [input = 0, cached = 0, write = 0, output = 0] = rates.map((rate) => Number(`${rate}e-9`));
        const cost = costOf(
          { input, cached_input: cached, cache_write: write, output },
          { inputTokens: used[0], cachedInputTokens: used[1], cacheWriteTokens: used[2], outputTokens: used[3] },
        );
        const total = used.reduce((sum, count, index) => sum + BigInt(count) * BigInt(rates[index] ?? 0), 0n);
        expect(cost).toEqual({ nanoUsd: Number((total + 500_000n) / 1_000_000n) });
      }),
      { numRuns: fuzzRuns(2000) },
    );
  });

  it('exactness: totals around the largest exact integer → no drift where the big path takes over', () => {
    for (const inputTokens of [9_007_199, 9_007_200, 9_007_199_254]) {
      const exact = (BigInt(inputTokens) * 999_999_999n + 500_000n) / 1_000_000n;
      expect(costOf({ input: 0.999999999, output: 0 }, { inputTokens })).toEqual({ nanoUsd: Number(exact) });
    }
  });
});

describe('costNanoUsd: time', () => {
  it('time: a price per minute → seconds over 60', () => {
    expect(costOf({ per_minute: 0.006 }, { audioSeconds: 90 })).toEqual({ nanoUsd: 9_000_000 });
  });

  it('time: a price per hour → seconds over 3600, rounded half up', () => {
    expect(costOf({ per_hour: 0.1 }, { audioSeconds: 0.1 + 0.2 })).toEqual({ nanoUsd: 8333 });
    expect(costOf({ per_hour: 0.0000018 }, { audioSeconds: 1 })).toEqual({ nanoUsd: 1 });
  });

  it('time: both units → the price per minute applies', () => {
    expect(costOf({ per_minute: 0.06, per_hour: 99 }, { audioSeconds: 60 })).toEqual({ nanoUsd: 60_000_000 });
  });

  it('time: tokens and seconds used, both priced → the time is charged', () => {
    const usage = { audioSeconds: 60, inputTokens: 1000, outputTokens: 10 };
    expect(costOf({ per_minute: 0.06, input: 5, output: 5 }, usage)).toEqual({ nanoUsd: 60_000_000 });
  });

  it('time: both priced, only tokens used → tokens', () => {
    expect(costOf({ per_minute: 0.06, input: 5, output: 5 }, { inputTokens: 1000 })).toEqual({ nanoUsd: 5_000_000 });
  });

  it('time: any duration and rate → equal to a reference in big integers', () => {
    const milliseconds = fc.integer({ min: 1, max: 10 ** 9 });
    fc.assert(
      fc.property(milliseconds, fc.integer({ min: 0, max: 10 ** 12 }), (lengthMs, nanoUsd) => {
        const cost = costOf({ per_minute: Number(`${nanoUsd}e-9`) }, { audioSeconds: Number(`${lengthMs}e-3`) });
        const exact = (BigInt(lengthMs) * BigInt(nanoUsd) + 30_000n) / 60_000n;
        expect(cost).toEqual({ nanoUsd: Number(exact) });
      }),
    );
  });
});

describe('costNanoUsd: usage that the price does not cover', () => {
  const tokenPrice: ModelPrice = { input: 1, output: 1 };

  it.each<[string, ModelPrice, Partial<BillableUsage>]>([
    ['tokens on a price by the minute', { per_minute: 1 }, { inputTokens: 5 }],
    ['tokens and a duration of 0 on a price by the minute', { per_minute: 1 }, { inputTokens: 5, audioSeconds: 0 }],
    ['no duration on a price by the hour', { per_hour: 1 }, {}],
    ['seconds on a price by the token', tokenPrice, { audioSeconds: 5 }],
    ['anything on a price of nothing', {}, { outputTokens: 1 }],
    ['half a token price', { input: 1 }, { inputTokens: 1 }],
  ])('unit: %s → unresolved, never free', (_case, price, usage) => {
    expect(costOf(price, usage)).toEqual(UNRESOLVED);
  });

  it.each<[string, ModelPrice, Partial<BillableUsage>]>([
    ['rates of 0', { input: 0, output: 0 }, { inputTokens: 5, outputTokens: 5 }],
    ['a minute for 0', { per_minute: 0 }, { audioSeconds: 5 }],
    ['nothing used', tokenPrice, {}],
    ['a recording of 0 seconds', { per_minute: 1 }, { audioSeconds: 0 }],
  ])('free: %s → 0', (_case, price, usage) => {
    expect(costOf(price, usage)).toEqual({ nanoUsd: 0 });
  });
});

describe('costNanoUsd: quantities in a request', () => {
  const images = { images: 3, requests: 1 };

  it.each<[string, ModelPrice, Partial<BillableUsage>, object]>([
    ['each image', { per_image: 0.04 }, { parts: images }, { nanoUsd: 120_000_000 }],
    ['each request', { per_request: 0.01 }, {}, { nanoUsd: 10_000_000 }],
    ['characters', { per_1k_characters: 0.015 }, { parts: { characters: 100 } }, { nanoUsd: 1_500_000 }],
    ['a part of a nano-dollar', { per_1k_characters: 0.000001 }, { parts: { characters: 1 } }, { nanoUsd: 1 }],
    [
      'images beside tokens',
      { input: 1, output: 2, per_image: 0.04 },
      { inputTokens: 5, parts: images },
      { nanoUsd: 120_005_000 },
    ],
    [
      'no image of a model with tokens',
      { input: 1, output: 2, per_image: 0.04 },
      { inputTokens: 5 },
      { nanoUsd: 5_000 },
    ],
    ['tokens without a rate', { per_image: 0.04 }, { outputTokens: 4_000, parts: images }, { nanoUsd: 120_000_000 }],
    [
      'a request beside a recording',
      { per_minute: 0.06, per_request: 0.01 },
      { audioSeconds: 60 },
      { nanoUsd: 70_000_000 },
    ],
    ['nothing that has a rate', { per_image: 0.04 }, { parts: { characters: 5 } }, UNRESOLVED],
  ])('%s → %j', (_what, price, usage, cost) => {
    expect(costOf(price, usage)).toEqual(cost);
  });
});

describe('costNanoUsd: tiers', () => {
  const price: ModelPrice = {
    ...{ input: 2, output: 4, per_1k_web_searches: 10 },
    tiers: { flex: { input: 1, output: 2 }, priority: { input: 4, output: 8, per_1k_web_searches: 20 } },
  };
  const usage = { inputTokens: 1_000, outputTokens: 100 };

  it.each<[string, object, number]>([
    ['none', {}, 2_000_000 + 400_000 + 10_000_000],
    ['flex, with the searches of the standard tier', { flex_tier: 1 }, 1_000_000 + 200_000 + 10_000_000],
    ['priority', { priority_tier: 1 }, 4_000_000 + 800_000 + 20_000_000],
    ['batch, which has no rates', { batch_tier: 1 }, 2_000_000 + 400_000 + 10_000_000],
  ])('%s → its rates', (_tier, parts, nanoUsd) => {
    expect(costOf(price, { ...usage, parts: { web_search: 1, ...parts } })).toEqual({ nanoUsd });
  });
});
