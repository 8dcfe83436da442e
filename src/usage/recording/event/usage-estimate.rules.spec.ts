import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anAdmission, anOutcome, aReading } from '../../../../test/support/usage/recording/usage.js';
import { maxCostOf } from '../../../pricing/max-cost.rules.js';
import { compilePrice } from '../../../pricing/model-price.js';
import { NO_TOKENS } from '../../../upstreams/usage/token-counts.js';
import type { UsageOutcome } from '../usage-event.js';
import { chargedNanoUsd, chargeOf, unresolvedReason } from './usage-estimate.rules.js';

const price = compilePrice({ input: 2, output: 8, cached_input: 1 });
/** Sends 40 000 nano-dollars and may generate 800 000. */
const asked = anAdmission({
  ...{ maxCostNanoUsd: 5_000_000, sent: { inputTokens: 20, audioSeconds: 0 }, maxOutputTokens: 100 },
});

function charge(outcome: Partial<UsageOutcome>, admission = asked) {
  const { cost, estimateNanoUsd } = chargeOf(admission, anOutcome({ price, ...outcome }));
  return [cost.source, cost.nanoUsd, estimateNanoUsd];
}

describe('estimate for a request of unknown usage (ADR 0007)', () => {
  const opened = aReading({ inputTokens: 30, cachedInputTokens: 5, outputTokens: 1, isOpening: true });

  it.each<[string, Partial<UsageOutcome>, unknown[]]>([
    ['never sent → nothing', { ending: 'unsent' }, ['computed', 0, 0]],
    ['an error that was heard → nothing', { ending: 'refused' }, ['computed', 0, 0]],
    ['its usage known → nothing', { reading: aReading() }, ['computed', 6_000_000, 0]],
    ['no answer → what was sent', { ending: 'unanswered', seenOutputTokens: 7 }, ['unresolved', 0, 40_000]],
    [
      'cut → what was sent, and all that could come',
      { ending: 'cut', seenOutputTokens: 7 },
      ['unresolved', 0, 840_000],
    ],
    ['whole, without usage → what was sent and seen', { seenOutputTokens: 7 }, ['unresolved', 0, 96_000]],
    ['whole, more seen than asked for → no more than that', { seenOutputTokens: 1_000 }, ['unresolved', 0, 840_000]],
    [
      'cut after it had told its prompt → that is known, the rest is estimated',
      { ending: 'cut', reading: opened },
      ['unresolved', 73_000, 792_000],
    ],
    [
      'ended after it had told its prompt → that is known, what was seen is estimated',
      { reading: opened, seenOutputTokens: 3 },
      ['unresolved', 73_000, 16_000],
    ],
  ])('%s', (_name, outcome, expected) => {
    expect(charge(outcome)).toEqual(expected);
  });

  it.each<[string, number | undefined, number]>([
    ['it does not say how many calls → one', undefined, 35_000_000],
    ['it says three', 3, 105_000_000],
  ])('a tool without a price, %s → the most expensive list price per call', (_name, hostedToolCalls, estimate) => {
    const reading = aReading({ hostedToolCalls });
    const outcome = { reading, hostedTools: ['web_search'] };
    expect(charge(outcome, { ...asked, maxCostNanoUsd: 1e9 })).toEqual(['unresolved', 6_000_000, estimate]);
    expect(charge(outcome, { ...asked, maxCostNanoUsd: 7_000_000 })).toEqual(['unresolved', 6_000_000, 1_000_000]);
  });

  it.each<[string, Partial<UsageOutcome>, unknown[]]>([
    [
      'before any content → nothing',
      { reading: aReading({ failure: 'before_content', usageSeen: false }) },
      ['computed', 0, 0],
    ],
    [
      'after content, without usage → what was sent and seen',
      { reading: aReading({ ...NO_TOKENS, failure: 'after_content', usageSeen: false }), seenOutputTokens: 7 },
      ['unresolved', 0, 96_000],
    ],
    ['with usage → its price', { reading: aReading({ failure: 'after_content' }) }, ['computed', 6_000_000, 0]],
    [
      'before any content, with the usage of its first event → its price',
      { reading: aReading({ failure: 'before_content', isOpening: true }) },
      ['computed', 6_000_000, 0],
    ],
  ])('an error inside a successful answer: %s', (_name, outcome, expected) => {
    expect(charge({ status: 'provider_error', ...outcome })).toEqual(expected);
  });

  const unknown = (more: object) => ({
    unknownMeasure: { inputTokens: 0, outputTokens: 0, tokens: 0, hasOtherUnit: false, ...more },
  });

  it.each<[string, object, number]>([
    ['prompt tokens → the dearest rate of their side', unknown({ inputTokens: 100 }), 500_000],
    ['generated tokens → the dearest rate of their side', unknown({ outputTokens: 100 }), 900_000],
    ['tokens of either side → the dearer one', unknown({ tokens: 100 }), 900_000],
    ['a counter of another unit → as much again', unknown({ hasOtherUnit: true }), 6_000_000],
    ['both', unknown({ inputTokens: 1, hasOtherUnit: true }), 6_005_000],
    ['audio without a rate → as much again', { parts: { audio_input_ms: 5 } }, 6_000_000],
    ['a dearer tier → twice the standard price', { otherTier: 'priority' }, 6_000_000],
    ['a tier of unknown rates → the same', { otherTier: 'turbo' }, 6_000_000],
    ['a cheaper tier → nothing', { otherTier: 'flex' }, 0],
    ['a dearer tier, and unknown tokens', { ...unknown({ inputTokens: 100 }), otherTier: 'fast' }, 7_000_000],
  ])('usage in the answer that no price covers: %s, whatever the request allowed', (_name, more, estimate) => {
    const dearer = compilePrice({ input: 2, output: 8, audio_input: 5, audio_output: 9 });
    for (const clientAborted of [false, true]) {
      const outcome = { price: dearer, reading: aReading(more), clientAborted };
      expect(charge(outcome)).toEqual(['unresolved', 6_000_000, estimate]);
    }
  });

  it('tokens of a model that a tool ran → its rates, if they are higher', () => {
    const [cheap, dear] = [compilePrice({ input: 1, output: 1 }), compilePrice({ input: 15, output: 75 })];
    const reading = aReading(unknown({ inputTokens: 1_000, outputTokens: 100 }));
    const [, cost, estimate] = charge({ reading, toolPrices: [cheap, dear] });
    expect([cost, estimate]).toEqual([6_000_000, 1_000 * 15_000 + 100 * 75_000]);
  });

  it('an image that a tool generated, without counts → a large image at its model’s rate', () => {
    const toolPrices = [compilePrice({ input: 5, output: 30 })];
    const outcome = { reading: aReading({ hostedToolCalls: 2 }), hostedTools: ['image_generation'], toolPrices };
    expect(charge(outcome, { ...asked, maxCostNanoUsd: 1e9 })).toEqual(['unresolved', 6_000_000, 2 * 6_240 * 30_000]);
  });

  it('client that disconnects after its answer named a tool → the tool is still estimated', () => {
    const outcome = { reading: aReading({ hostedToolCalls: 2, otherTier: 'flex' }), clientAborted: true };
    expect(charge(outcome, { ...asked, maxCostNanoUsd: 1e9 })).toEqual(['unresolved', 6_000_000, 70_000_000]);
  });

  it('a model priced by time whose answer has tokens → estimated from the recording that was sent', () => {
    const perMinute = compilePrice({ per_minute: 0.006 });
    const heard = { ...asked, sent: { inputTokens: 0, audioSeconds: 30 } };
    expect(charge({ price: perMinute, reading: aReading() }, heard)).toEqual(['unresolved', 0, 3_000_000]);
    expect(charge({ price: perMinute, ending: 'unanswered' }, heard)).toEqual(['unresolved', 0, 3_000_000]);
  });

  it('a cost that only the provider knows and does not report → assumed rates, for its counts if any', () => {
    const routed = { ...asked, reportsCost: true, maxCostNanoUsd: 1e12 };
    expect(charge({ price: undefined, ending: 'unanswered' }, routed)).toEqual(['unresolved', 0, 300_000]);
    const reading = aReading({ inputTokens: 10, cachedInputTokens: 10, outputTokens: 2 });
    expect(charge({ price: undefined, reading }, routed)).toEqual(['unresolved', 0, 450_000]);
  });

  it('targets called earlier → added to the known cost of the last one, which is then only part of the total', () => {
    const served = chargeOf(asked, anOutcome({ price, reading: aReading(), unansweredNanoUsd: 70 }));
    expect(served).toEqual({
      cost: { source: 'unresolved', nanoUsd: 6_000_000, reason: 'earlier_target_unheard' },
      estimateNanoUsd: 70,
    });
    expect([chargedNanoUsd(served), unresolvedReason(served)]).toEqual([6_000_070, 'earlier_target_unheard']);
    expect(charge({ ending: 'refused', unansweredNanoUsd: 70 })).toEqual(['unresolved', 0, 70]);
    expect(charge({ ending: 'unanswered', unansweredNanoUsd: 70 })).toEqual(['unresolved', 0, 40_070]);
  });

  it('a cost reported by the provider, and earlier targets → the cost stays reported', () => {
    const reading = aReading({ reportedCostNanoUsd: 9 });
    const reported = chargeOf(asked, anOutcome({ reading, unansweredNanoUsd: 70 }));
    expect(reported).toEqual({ cost: { source: 'reported', nanoUsd: 9 }, estimateNanoUsd: 70 });
    expect(unresolvedReason(reported)).toBe('earlier_target_unheard');
    expect(unresolvedReason(chargeOf(asked, anOutcome({ reading })))).toBeUndefined();
  });

  it('any call, however it ends → never above its worst case unless its known cost is higher; a whole number, not negative', () => {
    const count = fc.integer({ min: 0, max: 20_000_000 });
    const rate = fc.integer({ min: 0, max: 200 });
    const bounds = fc.record({ inputTokens: count, outputTokens: count, audioSeconds: count });
    const endings = fc.constantFrom('unsent', 'unanswered', 'refused', 'cut', 'whole');
    const readings = fc.option(
      fc.record({ inputTokens: count, cachedInputTokens: count, outputTokens: count, isOpening: fc.boolean() }),
    );
    const calls = fc.record({
      ...{ bounds, endings, readings, input: rate, output: rate, perMinute: rate, seen: count },
      kind: fc.constantFrom('tokens', 'time', 'long', 'unknown'),
      ...{ share: fc.double({ min: 0, max: 1, noNaN: true }), tools: fc.boolean() },
    });
    fc.assert(
      fc.property(calls, (call) => {
        const { kind, input, output } = call;
        const rates = { input, output, ...(kind === 'time' ? { per_minute: call.perMinute } : {}) };
        const long = kind === 'long' ? { long_context_threshold: 1_000_000, long_input: 3, long_output: 300 } : {};
        const own = kind === 'unknown' ? undefined : compilePrice({ ...rates, ...long });
        const sent = {
          inputTokens: Math.floor(call.bounds.inputTokens * call.share),
          audioSeconds: call.bounds.audioSeconds * call.share,
        };
        const maxCostNanoUsd = maxCostOf(own, call.bounds);
        const admission = anAdmission({ maxCostNanoUsd, sent, maxOutputTokens: call.bounds.outputTokens });
        const outcome = anOutcome({
          ...{ price: own, ending: call.endings, seenOutputTokens: call.seen },
          reading: call.readings === null ? undefined : aReading(call.readings),
          hostedTools: call.tools ? ['web_search'] : [],
        });
        const { cost, estimateNanoUsd } = chargeOf(admission, outcome);
        expect(Number.isSafeInteger(estimateNanoUsd) && estimateNanoUsd >= 0).toBe(true);
        expect(cost.nanoUsd + estimateNanoUsd).toBeLessThanOrEqual(Math.max(maxCostNanoUsd, cost.nanoUsd));
        if (cost.source === 'computed') expect(estimateNanoUsd).toBe(0);
      }),
    );
  });
});
