import type { Ids } from '../../common/ids.js';
import { EVENT_ID_RANDOM_BYTES, eventId } from './event-id.rules.js';

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
