const TIME_DIGITS = 12;

/** Random bytes in an event id. */
export const EVENT_ID_RANDOM_BYTES = 10;

/**
 * An event id: 12 hex digits of the time, so that ids of neighbours in time are neighbours in an index, and 20 random
 * ones.
 *
 * @param nowMs milliseconds since the Unix epoch.
 * @param random the bytes at `offset` and the nine after it are used.
 * Source: docs/reference/accounting.md#usage-event.
 */
export function eventId(nowMs: number, random: Buffer, offset: number): string {
  return earliestEventId(nowMs) + random.toString('hex', offset, offset + EVENT_ID_RANDOM_BYTES);
}

/** What ids of events of this time begin with, so that all that are later sort behind it. */
export function earliestEventId(nowMs: number): string {
  return Math.max(0, Math.trunc(nowMs)).toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS);
}
