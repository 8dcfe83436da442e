import { describe, expect, it } from '@jest/globals';
import { anOutcome, aReading } from '../../../../test/support/usage/recording/usage.js';
import { compilePrice, NO_CHARGE } from '../../../pricing/model-price.js';
import { resolveCost } from './usage-cost.rules.js';

const price = compilePrice({ input: 2, output: 8 });
const perMinute = compilePrice({ per_minute: 0.006 });
const TOKEN_COST = 1_000 * 2_000 + 500 * 8_000;
const INTERRUPTED = { ending: 'cut', loss: 'gateway_interrupted' } as const;

describe('usage cost', () => {
  it('tokens and a price → computed in nano-dollars', () => {
    const cost = resolveCost(false, anOutcome({ price, reading: aReading() }));
    expect(cost).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it.each([
    ['with a price beside it', price, 5],
    ['without a price', undefined, 5],
    ['of zero', price, 0],
  ])('the provider’s own figure %s → reported unchanged', (_name, priced, reportedCostNanoUsd) => {
    const reading = aReading({ reportedCostNanoUsd });
    expect(resolveCost(true, anOutcome({ price: priced, reading }))).toEqual({
      source: 'reported',
      nanoUsd: reportedCostNanoUsd,
    });
  });

  it.each([
    ['no answer at all', false, { price }, 'no_usage_reported'],
    ['an answer without counts', false, { price, reading: aReading({ usageSeen: false }) }, 'no_usage_reported'],
    ['counts, but no price', false, { reading: aReading() }, 'no_local_price'],
    ['tokens, but a price by the minute', false, { price: perMinute, reading: aReading() }, 'no_priced_measure'],
    ['neither report nor price where reports are usual', true, { reading: aReading() }, 'no_cost_reported'],
    ['the same without counts', true, {}, 'no_cost_reported'],
  ])('%s → unresolved, cost 0', (_name, mayReport, outcome, reason) => {
    expect(resolveCost(mayReport, anOutcome(outcome))).toEqual({ source: 'unresolved', nanoUsd: 0, reason });
    const aborted = resolveCost(mayReport, anOutcome({ ...outcome, clientAborted: true }));
    expect(aborted).toEqual({ source: 'unresolved', nanoUsd: 0, reason: 'client_aborted' });
    const interrupted = resolveCost(mayReport, anOutcome({ ...outcome, ...INTERRUPTED }));
    expect(interrupted).toEqual({ source: 'unresolved', nanoUsd: 0, reason: 'gateway_interrupted' });
  });

  it.each([
    ['client left', { clientAborted: true }],
    ['service stopped', INTERRUPTED],
  ])('%s after the usage was seen → priced as usual', (_name, ending) => {
    const outcome = anOutcome({ price, reading: aReading(), ...ending });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it.each([
    ['offered, and the answer does not say', ['web_search'], undefined, true],
    ['offered and used', ['web_search'], 2, true],
    ['not offered but used', [], 1, true],
    ['offered and not used', ['web_search'], 0, false],
    ['neither', [], undefined, false],
  ])('hosted tool %s → %s', (_name, hostedTools, hostedToolCalls, unresolved) => {
    const cost = resolveCost(false, anOutcome({ price, reading: aReading({ hostedToolCalls }), hostedTools }));
    expect(cost).toEqual(
      unresolved
        ? { source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'unpriced_tool' }
        : { source: 'computed', nanoUsd: TOKEN_COST },
    );
  });

  it.each([
    ['codeExecution'],
    ['urlContext'],
    ['mcp_toolset'],
    ['mcp'],
    ['tool_search_tool_bm25_20251119'],
    ['web_fetch_20250910'],
  ])('hosted tool without a fee: %s, and the answer does not report it → computed', (tool) => {
    const cost = resolveCost(false, anOutcome({ price, reading: aReading(), hostedTools: [tool] }));
    expect(cost).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it('hosted tools of which one has an unknown fee → unresolved', () => {
    const hostedTools = ['mcp_toolset', 'code_execution_20250825'];
    const cost = resolveCost(false, anOutcome({ price, reading: aReading(), hostedTools }));
    expect(cost).toMatchObject({ source: 'unresolved', reason: 'unpriced_tool' });
  });

  it('unknown usage → unresolved, with the cost of the known part; a reported cost stays reported', () => {
    const unknownMeasure = { inputTokens: 0, outputTokens: 0, tokens: 3, hasOtherUnit: false };
    expect(resolveCost(false, anOutcome({ price, reading: aReading({ unknownMeasure }) }))).toEqual({
      ...{ source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'unknown_measure' },
    });
    const reported = aReading({ unknownMeasure, reportedCostNanoUsd: 9 });
    expect(resolveCost(true, anOutcome({ price, reading: reported })).source).toBe('reported');
  });

  it('audio of a prompt by its length → costs its duration in addition to the tokens; without a rate for it, unknown', () => {
    const reading = aReading({ parts: { audio_input_ms: 30_000 } });
    expect(resolveCost(false, anOutcome({ price, reading }))).toMatchObject({ reason: 'unknown_measure' });
    const timed = compilePrice({ input: 2, output: 8, per_minute: 0.004 });
    expect(resolveCost(false, anOutcome({ price: timed, reading }))).toEqual({
      ...{ source: 'computed', nanoUsd: TOKEN_COST + 2_000_000 },
    });
  });

  it('iterations that are each below the long-context threshold but together above it → the normal rates', () => {
    const long = compilePrice({
      input: 3,
      output: 15,
      long_context_threshold: 200_000,
      long_input: 6,
      long_output: 22.5,
    });
    const compacted = { inputTokens: 203_000, outputTokens: 4_500, parts: { largest_prompt: 180_000 } };
    const cost = resolveCost(false, anOutcome({ price: long, reading: aReading(compacted) }));
    expect(cost).toEqual({ source: 'computed', nanoUsd: 676_500_000 });
  });

  it('hosted tool whose cost the provider reports → reported', () => {
    const reading = aReading({ reportedCostNanoUsd: 9, hostedToolCalls: 3 });
    expect(resolveCost(true, anOutcome({ reading })).source).toBe('reported');
  });

  it.each(['unsent', 'refused'] as const)('%s → computed, free', (ending) => {
    const outcome = anOutcome({ status: 'provider_error', ending, price });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: 0 });
    expect(resolveCost(true, { ...outcome, price: undefined })).toEqual({ source: 'computed', nanoUsd: 0 });
  });

  it.each([
    ['unanswered', 'provider_timeout'],
    ['unanswered', 'provider_reset'],
    ['cut', 'provider_silent'],
    ['cut', 'provider_reset'],
  ] as const)(
    '%s because of %s → not free, with that reason; a disconnected client takes precedence',
    (ending, loss) => {
      const lost = anOutcome({ status: 'provider_error', ending, loss, price });
      expect(resolveCost(false, lost)).toEqual({ source: 'unresolved', nanoUsd: 0, reason: loss });
      expect(resolveCost(false, { ...lost, clientAborted: true })).toMatchObject({ reason: 'client_aborted' });
    },
  );

  it('a free path → computed, whatever its outcome', () => {
    const outcome = anOutcome({
      status: 'provider_error',
      ending: 'unanswered',
      loss: 'provider_timeout',
      price: NO_CHARGE,
    });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: 0 });
  });

  it('answer that broke off after its usage → that usage', () => {
    const broken = anOutcome({ status: 'provider_error', ending: 'cut', loss: 'provider_reset', price });
    expect(resolveCost(false, { ...broken, reading: aReading() })).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it('cut off after its first event → not free: only part of the usage is known', () => {
    const outcome = anOutcome({ price, reading: aReading({ isOpening: true }), clientAborted: true });
    expect(resolveCost(false, outcome)).toEqual({
      ...{ source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'client_aborted' },
    });
    const broken = { ...outcome, status: 'provider_error' as const, clientAborted: false };
    expect(resolveCost(false, broken)).toMatchObject({ source: 'unresolved', reason: 'no_usage_reported' });
  });

  it.each([
    ['a counter beyond all reason', price, aReading({ implausible: true })],
    ['neither price nor a plausible report', undefined, aReading({ implausible: true })],
    [
      'more than a million dollars',
      compilePrice({ input: 1_000_000, output: 0 }),
      aReading({ inputTokens: 1_000_001 }),
    ],
  ])('%s → unresolved, and not in the sums', (_name, ofModel, reading) => {
    expect(resolveCost(true, anOutcome({ price: ofModel, reading }))).toEqual({
      ...{ source: 'unresolved', nanoUsd: 0, reason: 'usage_not_plausible' },
    });
  });

  it('a million dollars → computed: the bound itself is allowed', () => {
    const dear = compilePrice({ input: 1_000_000, output: 0 });
    const outcome = anOutcome({ price: dear, reading: aReading({ inputTokens: 1_000_000, outputTokens: 0 }) });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: 1e15 });
  });

  it('a service tier other than the priced one → unresolved, with the cost at the known price', () => {
    const reading = aReading({ otherTier: 'priority' });
    expect(resolveCost(false, anOutcome({ price, reading }))).toEqual({
      ...{ source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'service_tier_differs' },
    });
    const reported = aReading({ otherTier: 'priority', reportedCostNanoUsd: 9 });
    expect(resolveCost(true, anOutcome({ price, reading: reported })).source).toBe('reported');
  });

  it.each([
    ['web searches with a price', 2, { web_search: 2 }, 20_000_000, false],
    ['searches in files with a price', 3, { file_search: 3 }, 7_500_000, false],
    ['a search and another tool', 2, { web_search: 1 }, 10_000_000, true],
  ] as const)(
    '%s → their fee in addition to the tokens; unresolved: %s',
    (_name, hostedToolCalls, parts, fees, unresolved) => {
      const searching = compilePrice({ input: 2, output: 8, per_1k_web_searches: 10, per_1k_file_searches: 2.5 });
      const reading = aReading({ inputTokens: 0, outputTokens: 0, hostedToolCalls, parts });
      const cost = resolveCost(false, anOutcome({ price: searching, reading, hostedTools: ['web_search'] }));
      expect(cost).toMatchObject({ source: unresolved ? 'unresolved' : 'computed', nanoUsd: fees });
    },
  );

  it('a search that the fee of the request pays for → computed, whether offered or counted', () => {
    const asked = compilePrice({ input: 1, output: 1, per_1k_requests: 12 });
    for (const more of [{}, { hostedToolCalls: 3, parts: { web_search: 3 } }]) {
      const reading = aReading({ inputTokens: 1, outputTokens: 0, ...more });
      const outcome = anOutcome({ price: asked, reading, hostedTools: ['web_search'] });
      expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: 12_001_000 });
    }
  });
});
