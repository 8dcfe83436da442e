import { daysBefore } from '../common/day-range.rules.js';

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
