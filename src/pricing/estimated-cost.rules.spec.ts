import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { estimatedCostNanoUsd, maxCostOf } from './max-cost.rules.js';
import { compilePrice } from './model-price.js';

const USAGE = { inputTokens: 1_000, outputTokens: 100, audioSeconds: 60 };

describe('estimated cost (ADR 0007)', () => {
  it.each([
    [
      'text at the rates of text, not at the dearest',
      { input: 2, output: 8, audio_input: 100, cache_write: 50 },
      2_800_000,
    ],
    ['a long prompt at its rates', { input: 2, output: 8, long_context_threshold: 500, long_input: 4 }, 4_800_000],
    ['a model sold by the minute', { per_minute: 0.006 }, 6_000_000],
  ])('%s', (_name, price, expected) => {
    expect(estimatedCostNanoUsd(compilePrice(price), USAGE)).toBe(expected);
  });

  it('a service tier that the request selects → its rates', () => {
    const price = compilePrice({ input: 2, output: 8, tiers: { priority: { input: 4, output: 16 } } });
    expect(estimatedCostNanoUsd(price, { ...USAGE, tier: 'priority_tier' })).toBe(5_600_000);
    expect(estimatedCostNanoUsd(price, USAGE)).toBe(2_800_000);
  });

  it('unknown price → the assumed rates of the maximum cost', () => {
    expect(estimatedCostNanoUsd(undefined, USAGE)).toBe(maxCostOf(undefined, USAGE));
  });

  it('any usage with an exact cost → never above the maximum cost of its bounds', () => {
    const count = fc.integer({ min: 0, max: 10_000_000 });
    const rate = fc.integer({ min: 0, max: 200 });
    const usage = fc.record({ inputTokens: count, outputTokens: count, audioSeconds: count });
    fc.assert(
      fc.property(usage, usage, rate, rate, fc.option(rate), (estimate, more, input, output, perHour) => {
        const price = compilePrice({ input, output, ...(perHour === null ? {} : { per_hour: perHour }) });
        const bounds = {
          inputTokens: estimate.inputTokens + more.inputTokens,
          outputTokens: estimate.outputTokens + more.outputTokens,
          audioSeconds: estimate.audioSeconds + more.audioSeconds,
        };
        expect(estimatedCostNanoUsd(price, estimate)).toBeLessThanOrEqual(maxCostOf(price, bounds));
      }),
    );
  });
});
