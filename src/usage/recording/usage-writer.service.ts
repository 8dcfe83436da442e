import { Injectable } from '@nestjs/common';
import type { BudgetHold } from '../../budgets/budget-hold.js';
import { WriteBatch } from '../../platform/database/write-batch.js';
import type { JournalEntry } from '../../platform/journal/journal-entry.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { arraysOfKinds, type EventOfKind } from './event/event-arrays.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { storeEvents } from './store-events.js';
import { UsageIncidents } from './usage-incidents.service.js';

/** Maximum events per statement. */
const BATCH_EVENTS = 2_000;
/** Maximum delay of an event, to batch it with others. */
const GATHER_MS = 50;

/** A settled event and its budget holds. */
interface WaitingEvent extends EventOfKind {
  readonly holds: readonly BudgetHold[];
  /** Time of the event, in milliseconds since the Unix epoch. */
  readonly createdAtMs: number;
  /** Postgres rejected the data of this event, and that is logged. */
  rejected: boolean;
}

/**
 * Writes settled events to Postgres in the background: in batches, one statement at a time, in order. While Postgres is
 * unavailable the events wait, and writes are retried with backoff.
 */
@Injectable()
export class UsageWriter {
  private readonly batch = new WriteBatch<WaitingEvent>({
    maxItems: BATCH_EVENTS,
    gatherMs: GATHER_MS,
    run: (events) => this.write(events),
  });

  constructor(
    private readonly journal: UsageJournal,
    private readonly events: UsageWritesRepository,
    private readonly incidents: UsageIncidents,
  ) {}

  /**
   * Adds a settled journal entry.
   *
   * @param holds settled too; `stored` or `dropped` is called once the event is stored or rejected.
   */
  add(entry: JournalEntry, { kind, holds, createdAtMs }: Pick<WaitingEvent, 'kind' | 'holds' | 'createdAtMs'>): void {
    this.batch.add({ entry, kind, holds, createdAtMs, rejected: false });
  }

  /**
   * Writes all waiting events. Returns when everything is stored, or after a failed attempt: the rest then stays in the
   * journal and is retried.
   */
  flush(): Promise<void> {
    return this.batch.run();
  }

  /** @returns the events to retry. */
  private async write(waiting: readonly WaitingEvent[]): Promise<readonly WaitingEvent[]> {
    try {
      await this.store(waiting.filter(({ rejected }) => !rejected));
    } catch (error) {
      this.incidents.writeFailed(error);
      return waiting;
    }
    this.journal.stored(waiting.map(({ entry }) => entry));
    for (const { holds, rejected, createdAtMs } of waiting) {
      this.journal.unstored.end(createdAtMs);
      for (const hold of holds)
        if (rejected) hold.dropped();
        else hold.stored();
    }
    return [];
  }

  /** @throws unknown any error of the database; rejected events are marked by then. */
  private async store(events: readonly WaitingEvent[]): Promise<void> {
    const reader = this.journal.reader(events.map(({ entry }) => entry));
    const reject = (event: WaitingEvent, error: unknown) => {
      this.incidents.rejected(reader.text(event.entry), error);
      event.rejected = true;
    };
    await storeEvents(events, { insert: (some) => this.events.insert(arraysOfKinds(some, reader)), reject });
  }
}
