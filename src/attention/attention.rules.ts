import { type Instant, instantOf } from '../common/clock.js';

/** What may need attention. */
export const ATTENTION_KINDS = [
  'provider_failing',
  'app_budget',
  'user_budgets',
  'unresolved_costs',
  'unused_app_key',
  'unused_management_key',
] as const;

export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** How long a budget is for. */
export const ATTENTION_WINDOWS = ['day', 'week', 'month', 'total'] as const;

export type AttentionWindow = (typeof ATTENTION_WINDOWS)[number];

/** The most items of one kind; the most pressing ones come first. */
export const MAX_OF_KIND = 20;

/** A provider is failing when this many of its calls failed since the last one that did not. */
export const FAILED_IN_A_ROW = 3;

/** Reported from this part of a budget on, in per cent. */
export const BUDGET_PERCENT = 80;

/** Days for which unresolved costs are reported. */
const UNRESOLVED_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1000;

/** A key is unused after this time without a call. */
const UNUSED_MS = 90 * DAY_MS;

/** The times that facts are compared with. */
export interface AttentionTimes {
  /** UTC, `YYYY-MM-DD`. */
  readonly today: string;
  /** Calls to providers from this UTC day on, `YYYY-MM-DD`: since the beginning of yesterday. */
  readonly callsFrom: string;
  /** Unresolved costs from this UTC day on, `YYYY-MM-DD`. */
  readonly costsFrom: string;
  /** ISO 8601. */
  readonly unusedSince: string;
}

export function attentionTimes(now: Instant): AttentionTimes {
  const before = (ms: number) => instantOf(now.getTime() - ms).toISOString();
  const dayBefore = (days: number) => before(days * DAY_MS).slice(0, 'YYYY-MM-DD'.length);
  return {
    today: dayBefore(0),
    callsFrom: dayBefore(1),
    costsFrom: dayBefore(UNRESOLVED_DAYS - 1),
    unusedSince: before(UNUSED_MS),
  };
}
