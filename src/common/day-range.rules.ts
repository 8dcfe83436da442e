import { dayStartMs, instantOf } from './clock.js';
import { invalidRequest } from './errors/gateway-error.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Length of the default range before its last day. */
const DEFAULT_DAYS_BEFORE = 29;
const FIRST_DAY = '0000-01-01';

/** UTC days, `YYYY-MM-DD`, both inclusive. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/**
 * Completes a range of days: `to` defaults to today, `from` to a range of thirty days.
 *
 * @param asked days of the form `YYYY-MM-DD`.
 * @param today UTC.
 * @throws invalid_request naming `from` or `to`: not a calendar day, or `from` is after `to`.
 * Source: docs/reference/management-api.md#query-parameters-and-lists.
 */
export function dayRange(asked: Partial<DayRange>, today: string): DayRange {
  for (const name of ['from', 'to'] as const) {
    const day = asked[name];
    if (day !== undefined && !isCalendarDay(day)) throw invalidRequest(name, 'is not a day of the calendar');
  }
  const to = asked.to ?? today;
  const from = asked.from ?? daysBefore(to, DEFAULT_DAYS_BEFORE);
  if (from > to) throw invalidRequest('from', 'must not be later than `to`');
  return { from, to };
}

/** The UTC day this many days earlier, `YYYY-MM-DD`; not before year 0000. */
export function daysBefore(day: string, days: number): string {
  const earlier = dayOf(dayStartMs(day) - days * DAY_MS);
  return earlier.startsWith('-') ? FIRST_DAY : earlier;
}

/** Whether a text of the form `YYYY-MM-DD` is a day of the calendar. */
export function isCalendarDay(day: string): boolean {
  const ms = dayStartMs(day);
  return !Number.isNaN(ms) && dayOf(ms) === day;
}

function dayOf(ms: number): string {
  const [day = ''] = instantOf(ms).toISOString().split('T');
  return day;
}
