import { epochMsOf } from './clock.js';
import { isCalendarDay } from './day-range.rules.js';

const RFC_3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** The years that four digits write, whatever the time zone. */
const FIRST_MS = epochMsOf('0000-01-01T00:00:00Z');
const END_MS = epochMsOf('9999-12-31T23:59:59.999Z');

/** Whether a text is a time of the calendar with a time zone. Source: RFC 3339, without leap seconds. */
export function isTimestamp(text: string): boolean {
  const day = RFC_3339.exec(text)?.[1];
  const ms = epochMsOf(text);
  return day !== undefined && isCalendarDay(day) && ms >= FIRST_MS && ms <= END_MS;
}
