import { dayStartMs, instantOf } from '../common/clock.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS_PER_WEEK = 7;
/** Added to the start of a month, it yields an instant in the next month. */
const LONGER_THAN_A_MONTH_MS = 32 * DAY_MS;
/** 1970-01-01 was a Thursday: weeks begin on the Monday before. */
const FIRST_MONDAY_DAYS = -3;
/** The only period of a window that does not repeat. */
const EPOCH_DAY = '1970-01-01';

/**
 * What a budget counts and for how long. `total` and `run` do not repeat. Windows of tokens and of requests count those
 * instead of money. Source: docs/reference/accounting.md#hard-budgets, ADR 0017.
 */
export const BUDGET_WINDOWS = [
  ...(['day', 'week', 'month', 'total', 'run'] as const),
  ...(['minute_tokens', 'day_tokens', 'minute_requests', 'day_requests'] as const),
] as const;

export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

export type BudgetMeasure = 'money' | 'tokens' | 'requests';

/** The length of a window, and the unit of its amounts: whole nano-dollars, tokens or requests. */
interface WindowKind {
  readonly span: 'minute' | 'day' | 'week' | 'month' | 'total' | 'run';
  readonly measure: BudgetMeasure;
}

export const WINDOW_KINDS: Readonly<Record<BudgetWindow, WindowKind>> = {
  day: { span: 'day', measure: 'money' },
  week: { span: 'week', measure: 'money' },
  month: { span: 'month', measure: 'money' },
  total: { span: 'total', measure: 'money' },
  run: { span: 'run', measure: 'money' },
  minute_tokens: { span: 'minute', measure: 'tokens' },
  day_tokens: { span: 'day', measure: 'tokens' },
  minute_requests: { span: 'minute', measure: 'requests' },
  day_requests: { span: 'day', measure: 'requests' },
};

/** One UTC minute, day, week from Monday, or month; or all time. */
export interface BudgetPeriod {
  readonly window: BudgetWindow;
  /** First UTC day, `YYYY-MM-DD`; of a minute `YYYY-MM-DD HH:MM`. */
  readonly start: string;
  /** Milliseconds since the Unix epoch; `endMs` is the start of the next period, infinite where there is none. */
  readonly startMs: number;
  readonly endMs: number;
}

/** The period of a window at an instant. @param atMs milliseconds since the Unix epoch. */
export function budgetPeriodOf(window: BudgetWindow, atMs: number): BudgetPeriod {
  const { span } = WINDOW_KINDS[window];
  if (span === 'minute') {
    const startMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS;
    return { window, start: minuteOf(startMs), startMs, endMs: startMs + MINUTE_MS };
  }
  const start = startOf(span, atMs);
  const startMs = dayStartMs(start);
  return { window, start, startMs, endMs: endOf(span, startMs) };
}

type LongSpan = Exclude<WindowKind['span'], 'minute'>;

function minuteOf(startMs: number): string {
  return instantOf(startMs).toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ');
}

function startOf(span: LongSpan, atMs: number): string {
  const day = Math.floor(atMs / DAY_MS);
  if (span === 'day') return dayOf(day);
  if (span === 'week')
    return dayOf(day - ((((day - FIRST_MONDAY_DAYS) % DAYS_PER_WEEK) + DAYS_PER_WEEK) % DAYS_PER_WEEK));
  return span === 'month' ? `${dayOf(day).slice(0, 'YYYY-MM'.length)}-01` : EPOCH_DAY;
}

function endOf(span: LongSpan, startMs: number): number {
  if (span === 'day') return startMs + DAY_MS;
  if (span === 'week') return startMs + DAYS_PER_WEEK * DAY_MS;
  return span === 'month' ? dayStartMs(startOf('month', startMs + LONGER_THAN_A_MONTH_MS)) : Number.POSITIVE_INFINITY;
}

function dayOf(days: number): string {
  return instantOf(days * DAY_MS)
    .toISOString()
    .slice(0, EPOCH_DAY.length);
}

/** In the order of refusals: a call that several budgets refuse gets the refusal of the one that ends last. */
export function latestEndFirst<T extends { readonly window: BudgetWindow }>(budgets: readonly T[], atMs: number) {
  if (budgets.length < 2) return budgets;
  const endOf = ({ window }: T) => budgetPeriodOf(window, atMs).endMs;
  // Two infinite ends have no difference.
  return budgets.toSorted((one, other) => (endOf(one) === endOf(other) ? 0 : endOf(other) - endOf(one)));
}
