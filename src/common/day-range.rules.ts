import { dayStartMs, instantOf } from './clock.js';
import { invalidRequest } from './errors/gateway-error.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Days before the last one, when only that is known. */
const DEFAULT_DAYS_BEFORE = 29;
const FIRST_DAY = '0000-01-01';

/** UTC days, `YYYY-MM-DD`, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/**
 * The days a question is about: up to today, and thirty of them, as far as the caller does not say.
 *
 * @param asked days of the form `YYYY-MM-DD`.
 * @param today UTC.
 * @throws invalid_request naming `from` or `to`: no day of the calendar, or `from` is later than `to`.
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

/** The UTC day so many days earlier, `YYYY-MM-DD`; no year before 0000. */
export function daysBefore(day: string, days: number): string {
  const earlier = dayOf(dayStartMs(day) - days * DAY_MS);
  return earlier.startsWith('-') ? FIRST_DAY : earlier;
}

function isCalendarDay(day: string): boolean {
  const ms = dayStartMs(day);
  return !Number.isNaN(ms) && dayOf(ms) === day;
}

function dayOf(ms: number): string {
  const [day = ''] = instantOf(ms).toISOString().split('T');
  return day;
}
