import { daysBefore } from '../common/day-range.rules.js';

/**
 * Days before today whose events, and sums by user and day, are kept.
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
export const EVENT_DAYS = 90;

/** The first UTC day whose events are all there: those of earlier days are folded into sums, or about to be. */
export function firstEventDay(today: string): string {
  return daysBefore(today, EVENT_DAYS);
}
