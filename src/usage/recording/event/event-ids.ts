import type { Ids } from '../../../common/ids.js';

/** One system call for this many random bytes costs as much as one for ten. */
const POOL_BYTES = 4096;

/** Generates event ids from a pool of random bytes; each byte is used once. */
export class EventIds {
  private pool: Buffer = Buffer.alloc(0);
  private used = 0;

  constructor(private readonly ids: Ids) {}

  /** @param nowMs milliseconds since the Unix epoch. */
  next(nowMs: number): string {
    if (this.used + EVENT_ID_RANDOM_BYTES > this.pool.length) {
      this.pool = this.ids.bytes(POOL_BYTES);
      this.used = 0;
    }
    const offset = this.used;
    this.used += EVENT_ID_RANDOM_BYTES;
    return eventId(nowMs, this.pool, offset);
  }
}

const TIME_DIGITS = 12;

/** Random bytes in an event id. */
const EVENT_ID_RANDOM_BYTES = 10;

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
