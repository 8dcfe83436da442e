const TIME_DIGITS = 12;

/** Random bytes in an event id. */
export const EVENT_ID_RANDOM_BYTES = 10;

/**
 * An event id: 12 hex digits of the time, then 20 random ones. Ids of about the same time are adjacent in an index.
 *
 * @param nowMs milliseconds since the Unix epoch.
 * @param random the source of the `EVENT_ID_RANDOM_BYTES` bytes that start at `offset`.
 * Source: docs/reference/accounting.md#usage-event.
 */
export function eventId(nowMs: number, random: Buffer, offset: number): string {
  return earliestEventId(nowMs) + random.toString('hex', offset, offset + EVENT_ID_RANDOM_BYTES);
}

/** Prefix of the event ids of this time; every later id sorts after it. */
export function earliestEventId(nowMs: number): string {
  return Math.max(0, Math.trunc(nowMs)).toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS);
}
