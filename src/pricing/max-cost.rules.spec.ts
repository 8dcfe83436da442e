import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../test/support/jest/fuzz-runs.js';
import { USAGE_PARTS } from '../upstreams/usage/token-counts.js';
import { type BillableUsage, costNanoUsd } from './cost.rules.js';
import { maxCostOf, type UsageBounds } from './max-cost.rules.js';
import { compilePrice, type ModelPrice, PRICED_TIERS } from './model-price.js';

const LONG: ModelPrice = {
  ...{ input: 4, output: 20, cached_input: 0.4, cache_write: 5, long_context_threshold: 1_000 },
  ...{ long_input: 8, long_output: 30, long_cached_input: 0.8, long_cache_write: 10 },
};

function maxCostOfTarget(price: ModelPrice, bounds: Partial<UsageBounds>): number {
  return maxCostOf(compilePrice(price), { inputTokens: 0, outputTokens: 0, audioSeconds: 0, ...bounds });
}

describe('worst cost of a call', () => {
  it('every prompt token could be the most expensive kind → that rate for all of them', () => {
    expect(maxCostOfTarget(LONG, { inputTokens: 1_000, outputTokens: 100 })).toBe(1_000 * 5_000 + 100 * 20_000);
    expect(maxCostOfTarget({ input: 1, output: 2, audio_input: 40 }, { inputTokens: 10 })).toBe(400_000);
    expect(maxCostOfTarget({ input: 1, output: 2, audio_output: 80 }, { outputTokens: 10 })).toBe(800_000);
  });

  it('the prompt could be beyond the threshold → the long rates, if they are higher', () => {
    expect(maxCostOfTarget(LONG, { inputTokens: 1_001, outputTokens: 100 })).toBe(1_001 * 10_000 + 100 * 30_000);
    const cheaper = { ...LONG, long_input: 1, long_cached_input: 1, long_cache_write: 1, long_output: 1 };
    expect(maxCostOfTarget(cheaper, { inputTokens: 1_001 })).toBe(1_001 * 5_000);
  });

  it('time and tokens are both priced → both; minutes before hours', () => {
    expect(maxCostOfTarget({ per_minute: 0.006 }, { audioSeconds: 90 })).toBe(9_000_000);
    expect(maxCostOfTarget({ per_hour: 0.36 }, { audioSeconds: 90 })).toBe(9_000_000);
    expect(maxCostOfTarget({ per_minute: 0.006, per_hour: 7 }, { audioSeconds: 60 })).toBe(6_000_000);
    const both = { input: 100, output: 100, per_minute: 0.006 };
    expect(maxCostOfTarget(both, { inputTokens: 1_000, audioSeconds: 60 })).toBe(106_000_000);
  });

  it('fees per call → those of the searches that tools may make, and that of the request', () => {
    const price = { input: 0, output: 0, per_1k_web_searches: 10, per_1k_file_searches: 2.5, per_1k_requests: 12 };
    expect(maxCostOfTarget(price, {})).toBe(12_000_000);
    expect(maxCostOfTarget(price, { searches: 32 })).toBe(12_000_000 + 320_000_000);
    const unasked = { input: 0, output: 8, citation_output: 2, per_1k_web_searches: 5 };
    expect(maxCostOfTarget(unasked, {})).toBe(32 * 5_000_000);
  });

  it('quantities in the request → at their rates, in addition to all tokens', () => {
    const price = { input: 1, output: 2, per_request: 0.01, per_image: 0.04, per_1k_characters: 0.015 };
    expect(maxCostOfTarget(price, {})).toBe(10_000_000);
    const asked = { images: 3, characters: 2_000 };
    expect(maxCostOfTarget(price, { outputTokens: 10, asked })).toBe(10_000_000 + 120_000_000 + 30_000_000 + 20_000);
  });

  it('tiers → the highest of their rates and the standard rates, because the provider chooses', () => {
    const price = { input: 2, output: 4, tiers: { flex: { input: 1, output: 2 }, priority: { input: 5 } } };
    expect(maxCostOfTarget(price, { inputTokens: 1_000, outputTokens: 10 })).toBe(5_000_000 + 40_000);
  });

  it('parts of a nano-dollar → rounded up', () => {
    expect(maxCostOfTarget({ input: 0.000001, output: 0 }, { inputTokens: 1 })).toBe(1);
    expect(maxCostOfTarget({ per_minute: 0.000000001 }, { audioSeconds: 0.5 })).toBe(1);
  });

  it('only the provider knows the price → 15 and 75 dollars per million', () => {
    expect(maxCostOf(undefined, { inputTokens: 1_000, outputTokens: 10, audioSeconds: 5 })).toBe(15_750_000);
  });

  it('beyond exact integers → still above the cost, never above the largest exact one', () => {
    const dear = { input: 9_000_000, output: 9_000_000 };
    expect(maxCostOfTarget(dear, { inputTokens: 20_000_000 })).toBe(Number.MAX_SAFE_INTEGER);
    expect(maxCostOfTarget({ input: 1_000, output: 0 }, { inputTokens: 20_000_001 })).toBe(20_000_001_000_001);
    expect(maxCostOfTarget({ per_minute: 9_000_000 }, { audioSeconds: 21_000 })).toBe(Number.MAX_SAFE_INTEGER);
  });
});

const rate = fc.double({ min: 0, max: 600, noNaN: true }).map((usd) => Math.round(usd * 1e6) / 1e6);
const tokenRate = fc.option(rate, { nil: undefined });
const rates: fc.Arbitrary<ModelPrice> = fc
  .record({
    ...{ input: rate, output: rate, cached_input: tokenRate, cache_write: tokenRate },
    ...{ audio_input: tokenRate, audio_output: tokenRate, cached_audio_input: tokenRate },
    ...{ long_context_threshold: fc.option(fc.nat(50_000), { nil: undefined }) },
    ...{ long_input: tokenRate, long_output: tokenRate, long_cached_input: tokenRate, long_cache_write: tokenRate },
    ...{ per_minute: tokenRate, per_hour: tokenRate, cache_write_1h: tokenRate, long_cache_write_1h: tokenRate },
    ...{ image_input: tokenRate, video_input: tokenRate, cached_image_input: tokenRate, text_output: tokenRate },
    ...{ image_output: tokenRate, video_output: tokenRate, citation_output: tokenRate, reasoning_output: tokenRate },
    ...{ per_1k_web_searches: tokenRate, per_1k_file_searches: tokenRate, per_1k_requests: tokenRate },
    ...{ per_1k_requests_low_context: tokenRate, per_1k_requests_medium_context: tokenRate },
    ...{ per_image: tokenRate, per_request: tokenRate, per_1k_characters: tokenRate },
  })
  .map((price) => Object.fromEntries(Object.entries(price).filter(([, value]) => value !== undefined)));
const prices: fc.Arbitrary<ModelPrice> = fc
  .tuple(rates, fc.dictionary(fc.constantFrom(...PRICED_TIERS), rates))
  .map(([price, tiers]) => ({ ...price, tiers }));
const used = fc.oneof(fc.nat(100), fc.nat(100_000), fc.nat(20_000_000));
const usages: fc.Arbitrary<BillableUsage> = fc.record({
  ...{ inputTokens: used, cachedInputTokens: used, cacheWriteTokens: used, outputTokens: used },
  ...{ audioInputTokens: used, audioCachedInputTokens: used, audioOutputTokens: used },
  audioSeconds: fc.option(fc.double({ min: 0, max: 50_000, noNaN: true }), { nil: undefined }),
  parts: fc.option(fc.dictionary(fc.constantFrom(...USAGE_PARTS), fc.nat(1_000)), { nil: undefined }),
});

describe('worst cost: whatever is used within the bounds', () => {
  it('any price, any usage, any slack → never less than the cost', () => {
    fc.assert(
      fc.property(prices, usages, fc.nat(1_000), (raw, usage, slack) => {
        const price = compilePrice(raw);
        const cost = costNanoUsd(price, usage);
        if ('unresolved' in cost) return;
        const maxCost = maxCostOf(price, {
          inputTokens: usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens + slack,
          outputTokens: usage.outputTokens + slack,
          audioSeconds: Math.max(usage.audioSeconds ?? 0, (usage.parts?.audio_input_ms ?? 0) / 1000) + slack,
          searches: (usage.parts?.web_search ?? 0) + (usage.parts?.file_search ?? 0),
          asked: usage.parts,
        });
        expect(maxCost).toBeGreaterThanOrEqual(cost.nanoUsd);
        expect(Number.isSafeInteger(maxCost)).toBe(true);
      }),
      { numRuns: fuzzRuns(2_000) },
    );
  });
});
