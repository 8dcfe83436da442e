import { Injectable } from '@nestjs/common';
import type { BudgetHold } from '../budgets/budget-hold.js';
import { backoffMs } from '../platform/database/backoff.rules.js';
import type { JournalEntry } from '../platform/journal/journal-entry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { storeEvents } from './store-events.js';
import { UsageIncidents } from './usage-incidents.service.js';

/** Maximum events per statement. */
const BATCH_EVENTS = 500;
/** Maximum delay of an event, to batch it with others. */
const GATHER_MS = 50;

/** A settled event and its budget holds. */
interface WaitingEvent {
  readonly entry: JournalEntry;
  readonly holds: readonly BudgetHold[];
  /** Postgres rejected the data of this event, and that is logged. */
  rejected: boolean;
}

/**
 * Writes settled events to Postgres in the background: in batches, one statement at a time, in order. While Postgres is
 * unavailable the events wait, and writes are retried with backoff.
 */
@Injectable()
export class UsageWriter {
  /** Oldest first; new events go to the last batch. */
  private batches: WaitingEvent[][] = [];
  private timer: NodeJS.Timeout | undefined;
  private attempt: Promise<boolean> | undefined;
  private failures = 0;

  constructor(
    private readonly journal: UsageJournal,
    private readonly events: UsageWritesRepository,
    private readonly incidents: UsageIncidents,
  ) {}

  /**
   * Queues a settled journal entry.
   *
   * @param holds settled too; `stored` or `dropped` is called once the event is stored or rejected.
   */
  add(entry: JournalEntry, holds: readonly BudgetHold[] = []): void {
    const last = this.batches.at(-1);
    const waiting: WaitingEvent = { entry, holds, rejected: false };
    if (last === undefined || last.length >= BATCH_EVENTS) this.batches.push([waiting]);
    else last.push(waiting);
    const [next] = this.batches;
    if (next !== undefined && next.length === BATCH_EVENTS && this.failures === 0) this.cancelPlan();
    this.plan();
  }

  /**
   * Writes all waiting events. Returns when everything is stored, or after a failed attempt: the rest then stays in the
   * journal and is retried.
   */
  async flush(): Promise<void> {
    while (this.batches.length > 0 || this.attempt !== undefined) {
      if (!(await this.writeNext())) return;
    }
  }

  private plan(): void {
    const [next] = this.batches;
    if (next === undefined || this.timer !== undefined || this.attempt !== undefined) return;
    const gatherMs = next.length >= BATCH_EVENTS ? 0 : GATHER_MS;
    this.timer = setTimeout(() => void this.writeNext(), this.failures > 0 ? backoffMs(this.failures) : gatherMs);
    this.timer.unref();
  }

  private cancelPlan(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** @returns false when the attempt failed. */
  private writeNext(): Promise<boolean> {
    this.cancelPlan();
    this.attempt ??= this.write(this.batches.shift() ?? []).finally(() => {
      this.attempt = undefined;
      this.plan();
    });
    return this.attempt;
  }

  private async write(batch: WaitingEvent[]): Promise<boolean> {
    try {
      await this.store(batch.filter(({ rejected }) => !rejected));
    } catch (error) {
      this.batches.unshift(batch);
      this.failures++;
      this.incidents.writeFailed(error);
      return false;
    }
    this.failures = 0;
    this.journal.stored(batch.map(({ entry }) => entry));
    for (const { holds, rejected } of batch) {
      for (const hold of holds)
        if (rejected) hold.dropped();
        else hold.stored();
    }
    return true;
  }

  /** @throws unknown any error of the database; rejected events are marked by then. */
  private async store(events: readonly WaitingEvent[]): Promise<void> {
    const texts = events.map(({ entry }) => this.journal.settledJson(entry));
    const reject = (text: string, error: unknown, at: number) => {
      this.incidents.rejected(text, error);
      const event = events[at];
      if (event !== undefined) event.rejected = true;
    };
    await storeEvents(texts, { insert: (json) => this.events.insert(json), reject });
  }
}
