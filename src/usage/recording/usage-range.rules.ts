import { daysBefore } from '../../common/day-range.rules.js';

/**
 * Retention of events, and of sums by user and day, in days before today.
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
export const EVENT_DAYS = 90;

/** The first UTC day whose events are complete; events of earlier days are folded into sums or about to be. */
export function firstEventDay(today: string): string {
  return daysBefore(today, EVENT_DAYS);
}

const MONTHS_PER_YEAR = 12;

/**
 * A UTC month and the following ones, `YYYY-MM`.
 *
 * @param count number of months, including the first.
 */
export function monthsFrom(month: string, count: number): string[] {
  const first = Number(month.slice(0, 4)) * MONTHS_PER_YEAR + Number(month.slice(5)) - 1;
  return Array.from({ length: count }, (_none, ahead) => {
    const year = Math.floor((first + ahead) / MONTHS_PER_YEAR);
    return `${String(year).padStart(4, '0')}-${String(((first + ahead) % MONTHS_PER_YEAR) + 1).padStart(2, '0')}`;
  });
}
