import { errorCode } from '../common/errors/error-code.js';
import { missedPartition } from '../platform/database/violates.js';

/** What to do with events, as JSON texts. */
export interface EventStore {
  /** Stores an array of events, given as one JSON text, all or none. */
  readonly insert: (json: string) => Promise<void>;
  /** Takes an event that can never be stored. @param at its place among those that were to be. */
  readonly reject: (event: string, error: unknown, at: number) => void;
}

/**
 * SQLSTATE classes "data exception", "integrity constraint violation" and "program limit exceeded": trying again cannot
 * help.
 */
const BAD_DATA = /^(?:22|23|54)...$/;

/**
 * Stores events. When Postgres refuses their content, they are halved until the refused one is alone, so that one bad
 * event costs only itself.
 *
 * @param first place of the first of them.
 * @throws unknown whatever else keeps Postgres from storing them; some may be stored then, and storing them again must
 *   change nothing.
 */
export async function storeEvents(events: readonly string[], store: EventStore, first = 0): Promise<void> {
  if (events.length === 0) return;
  try {
    await store.insert(`[${events.join(',')}]`);
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
  return BAD_DATA.test(errorCode(error) ?? '') && !missedPartition(error);
}
