import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CompiledPrice, compilePrice } from '../pricing/model-price.js';
import { resolveCost } from '../usage/recording/event/usage-cost.rules.js';
import { type PricedEventRow, planReprice, toFigures } from './reprice.rules.js';

const PRICE = compilePrice({ input: 2, output: 8 });

function anEvent(overrides: Partial<PricedEventRow> = {}): PricedEventRow {
  return {
    id: '7',
    provider_id: 'provider-1',
    created_at_ms: '1795176000000',
    input_tokens: '1000',
    cached_input_tokens: '0',
    cache_write_tokens: '0',
    output_tokens: '500',
    audio_input_tokens: '0',
    audio_output_tokens: '0',
    audio_milliseconds: '0',
    usage_parts: null,
    cost_nano_usd: '1000000',
    charged_nano_usd: null,
    cost_source: 'computed',
    ...overrides,
  };
}

const UNMETERED = { input_tokens: '0', output_tokens: '0' };

function planOf(event: Partial<PricedEventRow>, price: CompiledPrice | undefined = PRICE) {
  return planReprice([anEvent(event)], () => price);
}

describe('planReprice', () => {
  it('another price → the difference, cost source computed', () => {
    const plan = planOf({});
    expect(plan.changes).toEqual([{ id: '7', costNanoUsd: 6_000_000, chargedNanoUsd: null, costSource: 'computed' }]);
    expect(toFigures(plan)).toEqual({
      matched_events: 1,
      unmetered_events: 0,
      unpriced_events: 0,
      unpriced_cost_usd: 0,
      previous_cost_usd: 0.001,
      recalculated_cost_usd: 0.006,
      delta_usd: 0.005,
    });
  });

  it('prices of several days → each event at the price of its day', () => {
    const [early, late] = [anEvent({ id: '1', created_at_ms: '1000' }), anEvent({ id: '2', created_at_ms: '2000' })];
    const double = compilePrice({ input: 4, output: 16 });
    const plan = planReprice([early, late], (_provider, atMs) => (atMs < 2000 ? PRICE : double));
    expect(plan.changes.map(({ id, costNanoUsd }) => [id, costNanoUsd])).toEqual([
      ['1', 6_000_000],
      ['2', 12_000_000],
    ]);
  });

  it('same price → no change', () => {
    expect(planOf({ cost_nano_usd: '6000000' })).toMatchObject({ changes: [], matchedEvents: 1 });
  });

  it.each([['unresolved' as const], ['computed' as const], [null]])(
    'no usage, source %s → costs nothing, keeps its source, needs no price',
    (cost_source) => {
      const plan = planReprice([anEvent({ ...UNMETERED, cost_source })], () => undefined);
      expect(plan.changes).toEqual([{ id: '7', costNanoUsd: 0, chargedNanoUsd: null, costSource: cost_source }]);
      expect(plan).toMatchObject({ matchedEvents: 1, unmeteredEvents: 1, unpricedEvents: 0 });
    },
  );

  it('unresolved with tokens and no cost → computed', () => {
    const plan = planOf({ cost_source: 'unresolved', cost_nano_usd: '0' });
    expect(plan.changes).toEqual([{ id: '7', costNanoUsd: 6_000_000, chargedNanoUsd: null, costSource: 'computed' }]);
  });

  it('tokens priced, additional tools not → new cost of the tokens, still unresolved', () => {
    const plan = planOf({ cost_source: 'unresolved' });
    expect(plan.changes).toEqual([{ id: '7', costNanoUsd: 6_000_000, chargedNanoUsd: null, costSource: 'unresolved' }]);
  });

  it.each([
    ['computed now: its cost', {}, '0', null, 'computed'],
    ['still unresolved: its estimate, beside the new cost', {}, '1000000', 14_000_000, 'unresolved'],
    ['the same of a smaller one', { charged_nano_usd: '2000000' }, '1000000', 7_000_000, 'unresolved'],
    ['unmetered: what it counted', UNMETERED, '0', 9_000_000, 'unresolved'],
  ] as const)('unresolved, charged more than its cost; %s', (_name, members, cost, charged, source) => {
    const plan = planOf({ cost_source: 'unresolved', cost_nano_usd: cost, charged_nano_usd: '9000000', ...members });
    const changes = plan.changes.map(({ chargedNanoUsd, costSource }) => [chargedNanoUsd, costSource]);
    expect(changes).toEqual(source === 'unresolved' && cost === '0' ? [] : [[charged, source]]);
  });

  it.each([
    ['no price', undefined],
    ['a price by the minute only', compilePrice({ per_minute: 0.006 })],
  ])('tokens and %s → unpriced, counted separately with its cost', (_name, price) => {
    const plan = planReprice([anEvent()], () => price);
    expect(plan.changes).toEqual([]);
    expect(toFigures(plan)).toMatchObject({
      matched_events: 0,
      unpriced_events: 1,
      unpriced_cost_usd: 0.001,
      previous_cost_usd: 0,
      delta_usd: 0,
    });
  });

  it('recording without tokens → usage by time, priced per minute', () => {
    const plan = planOf({ ...UNMETERED, audio_milliseconds: '90500' }, compilePrice({ per_minute: 0.006 }));
    expect(plan).toMatchObject({ unmeteredEvents: 0, recalculatedNanoUsd: 9_050_000n });
  });

  it('prompt above the threshold → long rates; audio → rates of audio', () => {
    const long = compilePrice({ input: 1, output: 1, long_context_threshold: 999, long_input: 2, long_output: 3 });
    expect(planOf({}, long).recalculatedNanoUsd).toBe(3_500_000n);
    const audio = compilePrice({ input: 1, output: 1, audio_input: 10, audio_output: 20 });
    expect(planOf({ audio_input_tokens: '400', audio_output_tokens: '500' }, audio).recalculatedNanoUsd).toBe(
      14_600_000n,
    );
  });

  it('sums beyond 2^53 → exact', () => {
    const huge = anEvent({ ...UNMETERED, cost_nano_usd: String(Number.MAX_SAFE_INTEGER) });
    const plan = planReprice([huge, huge, huge], () => PRICE);
    expect(plan.previousNanoUsd).toBe(3n * BigInt(Number.MAX_SAFE_INTEGER));
  });

  it('any usage without cached audio → the same cost as at the time of the call', () => {
    const count = fc.integer({ min: 0, max: 500_000 });
    const usage = fc.record({ input: count, cached: count, written: count, output: count, ms: count });
    fc.assert(
      fc.property(usage, fc.boolean(), ({ input, cached, written, output, ms }, timed) => {
        const price = timed
          ? compilePrice({ per_minute: 0.006, input: 1, output: 2 })
          : compilePrice({
              input: 1.25,
              output: 10,
              cached_input: 0.125,
              long_context_threshold: 200_000,
              long_input: 2.5,
            });
        const billed = resolveCost(false, {
          ...{
            status: 'ok',
            ending: 'whole',
            latencyMs: 1,
            durationMs: 2,
            clientAborted: false,
            contentType: null,
            price,
          },
          reading: {
            ...{ inputTokens: input, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens: output },
            ...{ reasoningTokens: 0, audioInputTokens: 0, audioCachedInputTokens: 0, audioOutputTokens: 0 },
            ...{ usageSeen: true, audioSeconds: ms / 1000 },
          },
        });
        const stored = anEvent({
          input_tokens: String(input),
          cached_input_tokens: String(cached),
          cache_write_tokens: String(written),
          output_tokens: String(output),
          audio_milliseconds: String(ms),
          cost_nano_usd: String(billed.nanoUsd),
          cost_source: billed.source,
        });
        expect(planReprice([stored], () => price).changes).toEqual([]);
      }),
    );
  });
});
