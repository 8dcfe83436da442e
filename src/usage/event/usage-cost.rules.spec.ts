import { describe, expect, it } from '@jest/globals';
import { anOutcome, aReading } from '../../../test/support/usage.js';
import { compilePrice } from '../../pricing/model-price.js';
import { chargeOf, resolveCost } from './usage-cost.rules.js';

const price = compilePrice({ input: 2, output: 8 });
const perMinute = compilePrice({ per_minute: 0.006 });
const TOKEN_COST = 1_000 * 2_000 + 500 * 8_000;

describe('usage cost (contract-app 9.4, 9.5)', () => {
  it('tokens and a price → computed in nano-dollars', () => {
    const cost = resolveCost(false, anOutcome({ price, reading: aReading() }));
    expect(cost).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it.each([
    ['with a price beside it', price, 5],
    ['without a price', undefined, 5],
    ['of zero', price, 0],
  ])('the provider’s own figure %s → reported as it is', (_name, priced, reportedCostNanoUsd) => {
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
  });

  it('client left after its usage was seen → priced like any other', () => {
    const outcome = anOutcome({ price, reading: aReading(), clientAborted: true });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: TOKEN_COST });
  });

  it.each([
    ['offered, and the answer does not say', ['web_search'], undefined, true],
    ['offered and used', ['web_search'], 2, true],
    ['not offered but used', [], 1, true],
    ['offered and not used', ['web_search'], 0, false],
    ['neither', [], undefined, false],
  ])('decision 3.6: hosted tool %s → %s', (_name, hostedTools, hostedToolCalls, unresolved) => {
    const cost = resolveCost(false, anOutcome({ price, reading: aReading({ hostedToolCalls }), hostedTools }));
    expect(cost).toEqual(
      unresolved
        ? { source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'unpriced_tool' }
        : { source: 'computed', nanoUsd: TOKEN_COST },
    );
  });

  it('hosted tool whose cost the provider reports → reported', () => {
    const reading = aReading({ reportedCostNanoUsd: 9, hostedToolCalls: 3 });
    expect(resolveCost(true, anOutcome({ reading })).source).toBe('reported');
  });

  it('provider error before any answer → computed, free', () => {
    const outcome = anOutcome({ status: 'provider_error', answered: false, price });
    expect(resolveCost(false, outcome)).toEqual({ source: 'computed', nanoUsd: 0 });
    expect(resolveCost(true, { ...outcome, price: undefined })).toEqual({ source: 'computed', nanoUsd: 0 });
  });

  it('answer that broke off after it had begun → not free: its usage if it was seen, else unresolved', () => {
    const broken = anOutcome({ status: 'provider_error', answered: true, price });
    expect(resolveCost(false, broken)).toMatchObject({ source: 'unresolved', reason: 'no_usage_reported' });
    expect(resolveCost(false, { ...broken, reading: aReading() })).toMatchObject({
      source: 'computed',
      nanoUsd: TOKEN_COST,
    });
  });

  it('threats 8.3: cut off after its first event → not free: that much is known, the rest is not', () => {
    const outcome = anOutcome({ price, reading: aReading({ isOpening: true }), clientAborted: true });
    expect(resolveCost(false, outcome)).toEqual({
      ...{ source: 'unresolved', nanoUsd: TOKEN_COST, reason: 'client_aborted' },
    });
    const broken = { ...outcome, status: 'provider_error' as const, clientAborted: false };
    expect(resolveCost(false, broken)).toMatchObject({ source: 'unresolved', reason: 'no_usage_reported' });
  });

  it('counts beyond all reason → the largest exact number, never something Postgres refuses', () => {
    const reading = aReading({ inputTokens: 1e300, outputTokens: Number.MAX_SAFE_INTEGER });
    expect(resolveCost(false, anOutcome({ price, reading }))).toEqual({
      source: 'computed',
      nanoUsd: Number.MAX_SAFE_INTEGER,
    });
  });
});

describe('what a request counts against budgets (decision 3.11)', () => {
  it.each([
    ['computed', 5, 900, 5],
    ['reported', 0, 900, 0],
    ['unresolved', 0, 900, 900],
    ['unresolved', 950, 900, 950],
    ['unresolved', 0, 0, 0],
  ] as const)('%s, cost %i, worst case %i → %i', (source, nanoUsd, worst, charged) => {
    const cost =
      source === 'unresolved' ? { source, nanoUsd, reason: 'no_usage_reported' as const } : { source, nanoUsd };
    expect(chargeOf(cost, worst)).toBe(charged);
    expect(chargeOf(cost, worst, 30)).toBe(charged + 30);
  });
});
