import { divideHalfUp, toDecimal } from './decimal.rules.js';
import type { CompiledPrice, TokenRates } from './model-price.js';

/**
 * What one answer used: whole tokens of at least 0. The four buckets do not overlap; the audio counts are the part of
 * the bucket they name that was audio. Source: contract-app 9.2.
 */
export interface BillableUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly audioInputTokens: number;
  readonly audioCachedInputTokens: number;
  readonly audioOutputTokens: number;
  /** Length of the recording, fractions allowed; absent when the answer does not say. */
  readonly audioSeconds?: number | undefined;
}

/** A cost, or that the price has no rate for what was measured. */
export type Cost = { readonly nanoUsd: number } | { readonly unresolved: 'no_priced_measure' };

/** A number of tokens, and nano-dollars per 1 000 000 of them. */
type TokensAtRate = readonly [tokens: number, rate: number];

const TOKENS_PER_RATE = 1_000_000;
const HALF_OF_RATE = TOKENS_PER_RATE / 2;
const NO_PRICED_MEASURE: Cost = { unresolved: 'no_priced_measure' };

/**
 * The one price function: reservation, billing and reprice all call it. Time decides before tokens, minutes before
 * hours; a measure the price has no rate for leaves the cost unresolved, never silently 0.
 *
 * @returns whole nano-dollars, rounded once, halves up; exact up to 2^53, beyond it the nearest number there is.
 * Source: contract-app 9.4, decision 4.2.
 */
export function costNanoUsd(price: CompiledPrice, usage: BillableUsage): Cost {
  const seconds = usage.audioSeconds ?? 0;
  const promptTokens = usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens;
  const usedTokens = promptTokens + usage.outputTokens > 0;
  const timed = price.nanoUsdPerMinute !== undefined || price.nanoUsdPerHour !== undefined;

  if (timed && seconds > 0) return { nanoUsd: costOfTime(price, seconds) };
  if (price.tokens !== undefined && usedTokens) {
    const long = price.longContext;
    const rates = long !== undefined && promptTokens > long.thresholdTokens ? long.tokens : price.tokens;
    return { nanoUsd: costOfTokens(rates, usage) };
  }
  if (usedTokens || seconds > 0) return NO_PRICED_MEASURE;
  const measuredAsPriced = price.tokens !== undefined || (timed && usage.audioSeconds !== undefined);
  return measuredAsPriced ? { nanoUsd: 0 } : NO_PRICED_MEASURE;
}

/** Only for a price with a rate by the minute or the hour. */
function costOfTime(price: CompiledPrice, seconds: number): number {
  const { digits, scale } = toDecimal(seconds);
  const [rate, secondsPerRate] =
    price.nanoUsdPerMinute === undefined ? [price.nanoUsdPerHour ?? 0, 3600n] : [price.nanoUsdPerMinute, 60n];
  return Number(divideHalfUp(BigInt(rate) * digits, secondsPerRate * 10n ** BigInt(scale)));
}

function costOfTokens(rates: TokenRates, usage: BillableUsage): number {
  const audioInput = Math.min(usage.audioInputTokens, usage.inputTokens);
  const audioCached = Math.min(usage.audioCachedInputTokens, usage.cachedInputTokens);
  const audioOutput = Math.min(usage.audioOutputTokens, usage.outputTokens);
  const parts: readonly TokensAtRate[] = [
    [usage.inputTokens - audioInput, rates.input],
    [usage.cachedInputTokens - audioCached, rates.cachedInput],
    [usage.cacheWriteTokens, rates.cacheWrite],
    [usage.outputTokens - audioOutput, rates.output],
    [audioInput, rates.audioInput],
    [audioCached, rates.audioCachedInput],
    [audioOutput, rates.audioOutput],
  ];
  const total = parts.reduce((sum, [tokens, rate]) => sum + tokens * rate, 0);
  // Nothing is negative, so a total this small proves that no product or partial sum left the exact integers.
  if (total > Number.MAX_SAFE_INTEGER - HALF_OF_RATE) return costOfManyTokens(parts);
  const rounded = total + HALF_OF_RATE;
  return (rounded - (rounded % TOKENS_PER_RATE)) / TOKENS_PER_RATE;
}

function costOfManyTokens(parts: readonly TokensAtRate[]): number {
  const total = parts.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(rate), 0n);
  return Number(divideHalfUp(total, BigInt(TOKENS_PER_RATE)));
}
