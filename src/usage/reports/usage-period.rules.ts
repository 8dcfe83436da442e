import { dayStartMs, instantOf } from '../../common/clock.js';
import { type DayRange, daysBefore } from '../../common/day-range.rules.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Every class of latencies ends this much above the one before it. */
const CLASS_FACTOR = 1.1;

/** Calls of one latency class. */
export interface LatencyClass {
  /** The class `n` has the latencies above `1.1^(n-1)` and up to `1.1^n` milliseconds. */
  readonly class: number;
  readonly requests: number;
}

/** Time to the first or last byte of successful answers. */
export interface Latency {
  /** Successful calls with a known time. */
  readonly calls: number;
  /** Milliseconds, within 5 %; null without calls. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

export const NO_LATENCY: Latency = { calls: 0, p50_ms: null, p95_ms: null };

/**
 * The period that a period is compared with: of a calendar month the month before; of its first days as many days of
 * the month before; of other days as many days just before.
 */
export function periodBefore({ from, to }: DayRange): DayRange {
  const last = daysBefore(from, 1);
  const days = Math.round((dayStartMs(to) - dayStartMs(from)) / DAY_MS) + 1;
  if (!from.endsWith('-01') || !to.startsWith(from.slice(0, 'YYYY-MM'.length))) {
    return { from: daysBefore(last, days - 1), to: last };
  }
  const first = `${last.slice(0, 'YYYY-MM'.length)}-01`;
  const sameDay = daysBefore(first, 1 - days);
  return { from: first, to: isLastOfMonth(to) || sameDay > last ? last : sameDay };
}

/** Percentiles by nearest rank; each is the middle of its class. */
export function latencyOf(classes: readonly LatencyClass[]): Latency {
  const inOrder = [...classes].sort((one, other) => one.class - other.class);
  const calls = inOrder.reduce((sum, { requests }) => sum + requests, 0);
  if (calls === 0) return NO_LATENCY;
  return { calls, p50_ms: percentile(inOrder, calls * 0.5), p95_ms: percentile(inOrder, calls * 0.95) };
}

function percentile(inOrder: readonly LatencyClass[], rank: number): number {
  let seen = 0;
  const found = inOrder.find(({ requests }) => {
    seen += requests;
    return seen >= rank;
  });
  return Math.max(1, Math.round(CLASS_FACTOR ** ((found?.class ?? 0) - 0.5)));
}

function isLastOfMonth(day: string): boolean {
  return instantOf(dayStartMs(day) + DAY_MS).getUTCDate() === 1;
}
