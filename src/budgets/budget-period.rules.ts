import { dayStartMs, instantOf } from '../common/clock.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS_PER_WEEK = 7;
/** Added to the start of a month, it yields an instant in the next month. */
const LONGER_THAN_A_MONTH_MS = 32 * DAY_MS;
/** 1970-01-01 was a Thursday: weeks begin on the Monday before. */
const FIRST_MONDAY_DAYS = -3;
/** The only period of a window that does not repeat. */
const EPOCH_DAY = '1970-01-01';

/** How long a budget is for. `total` and `run` do not repeat. Source: docs/reference/accounting.md#hard-budgets. */
export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total', 'run'] as const;

export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** One UTC day, week from Monday, or month; or all time. */
export interface BudgetPeriod {
  readonly window: BudgetWindow;
  /** First UTC day, `YYYY-MM-DD`. */
  readonly start: string;
  /** Milliseconds since the Unix epoch; `endMs` is the start of the next period, infinite where there is none. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The period of a window at an instant. @param atMs milliseconds since the Unix epoch. */
export function budgetPeriodOf(window: BudgetWindow, atMs: number): BudgetPeriod {
  const start = startOf(window, atMs);
  const startMs = dayStartMs(start);
  return { window, start, startMs, endMs: endOf(window, startMs) };
}

function startOf(window: BudgetWindow, atMs: number): string {
  const day = Math.floor(atMs / DAY_MS);
  if (window === 'day') return dayOf(day);
  if (window === 'week')
    return dayOf(day - ((((day - FIRST_MONDAY_DAYS) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK));
  return window === 'month' ? `${dayOf(day).slice(0, 'YYYY-MM'.length)}-01` : EPOCH_DAY;
}

function endOf(window: BudgetWindow, startMs: number): number {
  if (window === 'day') return startMs + DAY_MS;
  if (window === 'week') return startMs + DAYS_PER_WEEK * DAY_MS;
  return window === 'month' ? dayStartMs(startOf('month', startMs + LONGER_THAN_A_MONTH_MS)) : Number.POSITIVE_INFINITY;
}

function dayOf(days: number): string {
  return instantOf(days * DAY_MS)
    .toISOString()
    .slice(0, EPOCH_DAY.length);
}

/** In the order of refusals: a call that several budgets refuse is told of the one that ends last. */
export function latestEndFirst<T extends { readonly window: BudgetWindow }>(budgets: readonly T[], atMs: number) {
  if (budgets.length < 2) return budgets;
  const endOf = ({ window }: T) => budgetPeriodOf(window, atMs).endMs;
  // Two infinite ends have no difference.
  return budgets.toSorted((one, other) => (endOf(one) === endOf(other) ? 0 : endOf(other) - endOf(one)));
}
