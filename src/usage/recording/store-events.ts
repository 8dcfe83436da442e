import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { missedPartition } from '../../platform/database/database-errors.js';

/** Writes and rejects events. */
export interface EventStore<Event> {
  /** Stores events atomically. */
  readonly insert: (events: readonly Event[]) => Promise<void>;
  /** Handles an event that can never be stored. @param at index of the event in the original list. */
  readonly reject: (event: Event, error: unknown, at: number) => void;
}

/**
 * SQLSTATE classes "data exception", "integrity constraint violation" and "program limit exceeded": a retry cannot
 * succeed.
 */
const BAD_DATA = /^(?:22|23|54)...$/;

/**
 * Stores events. When Postgres rejects their data, the batch is bisected until the invalid event is alone, so that only
 * that event is lost.
 *
 * @param first index of the first event in the original list.
 * @throws unknown any other error of `insert`; some events may be stored then, so `insert` must be idempotent.
 */
export async function storeEvents<Event>(events: readonly Event[], store: EventStore<Event>, first = 0): Promise<void> {
  if (events.length === 0) return;
  try {
    await store.insert(events);
  } catch (error) {
    if (!isBadData(error)) throw error;
    const [only] = events;
    if (only !== undefined && events.length === 1) {
      store.reject(only, error, first);
      return;
    }
    const middle = Math.ceil(events.length / 2);
    await storeEvents(events.slice(0, middle), store, first);
    await storeEvents(events.slice(middle), store, first + middle);
  }
}

function isBadData(error: unknown): boolean {
  return BAD_DATA.test(systemErrorCode(error) ?? '') && !missedPartition(error);
}
