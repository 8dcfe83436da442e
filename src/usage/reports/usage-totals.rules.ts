import type { MonthUsageRow, TotalsRow, UsageEventRow } from '../recording/usage-rows.js';

const NANO_USD_PER_USD = 1_000_000_000;

type ChargedRow = Pick<UsageEventRow, 'charged_nano_usd' | 'cost_nano_usd'>;

/** Usage of a month as the API returns it. */
export type MonthUsage = Omit<UsageTotals, 'errors' | 'blocked'>;

/**
 * Converts nano-dollars to dollars, for responses only. One division yields the nearest number.
 *
 * @param nanoUsd whole nano-dollars as Postgres returns them.
 * Source: docs/reference/accounting.md#money-and-time.
 */
export function toUsd(nanoUsd: string): number {
  return Number(nanoUsd) / NANO_USD_PER_USD;
}

/** Estimate of a stored event in addition to its cost, in whole nano-dollars as text. */
export function estimateOf({ charged_nano_usd, cost_nano_usd }: ChargedRow): string {
  const estimate = BigInt(charged_nano_usd ?? cost_nano_usd) - BigInt(cost_nano_usd);
  return estimate > 0n ? String(estimate) : '0';
}

/** Sums as the API returns them; zero without a row. */
export function toMonthUsage(row: MonthUsageRow | undefined): MonthUsage {
  return {
    requests: Number(row?.requests ?? 0),
    input_tokens: Number(row?.input_tokens ?? 0),
    cached_input_tokens: Number(row?.cached_input_tokens ?? 0),
    cache_write_tokens: Number(row?.cache_write_tokens ?? 0),
    output_tokens: Number(row?.output_tokens ?? 0),
    cost_usd: toUsd(row?.cost_nano_usd ?? '0'),
    estimated_cost_usd: toUsd(row?.estimated_nano_usd ?? '0'),
  };
}

/** Sums with failure counts. */
export function toUsageTotals(row: TotalsRow): UsageTotals {
  return { ...toMonthUsage(row), errors: Number(row.errors), blocked: Number(row.blocked) };
}

/** Usage of a period as the API returns it. Source: docs/reference/management-api.md#application-routes. */
export interface UsageTotals {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly cache_write_tokens: number;
  readonly output_tokens: number;
  /** US dollars. */
  readonly cost_usd: number;
  /** Estimate of unknown costs in addition to `cost_usd`; counts against budgets. US dollars. */
  readonly estimated_cost_usd: number;
  /** Requests with status `provider_error`. */
  readonly errors: number;
  /** Requests with a status `blocked_*`. */
  readonly blocked: number;
}

export const NO_USAGE: UsageTotals = {
  requests: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  estimated_cost_usd: 0,
  errors: 0,
  blocked: 0,
};
