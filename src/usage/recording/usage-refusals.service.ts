import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { arraysOfTexts } from './event/event-arrays.js';
import { markStored, type RefusalRow, RefusalRows, rowToStore } from './event/refusal-rows.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { storeEvents } from './store-events.js';
import type { Refusal, RefusedCall } from './usage-event.js';
import { UsageIncidents } from './usage-incidents.service.js';

/** Maximum number of identities with their own row at a time. */
const MAX_ROWS = 10_000;
/** Maximum rows per statement. */
const BATCH_ROWS = 500;
/** Maximum delay of a new row, to batch it with others. */
const GATHER_MS = 100;
/** Interval at which raised counts are stored, and at which writes are retried while Postgres is unavailable. */
const RENEW_MS = 1_000;

/**
 * Records refused requests as usage events without cost: one row for all refusals of one identity and reason within one
 * minute. The rows bound what an attack can write, and the counts stay exact. They are not journaled: a killed process
 * loses the counts of its last second, or those since Postgres became unavailable.
 */
@Injectable()
export class UsageRefusals implements OnApplicationShutdown {
  private readonly rows = new RefusalRows(MAX_ROWS);
  private soon: NodeJS.Timeout | undefined;
  private later: NodeJS.Timeout | undefined;
  /** One statement at a time: each statement depends on the counts that the previous one stored. */
  private writing: Promise<void> = Promise.resolve();
  private isAway = false;
  private isClosed = false;

  constructor(
    private readonly writes: UsageWritesRepository,
    private readonly incidents: UsageIncidents,
    private readonly clock: Clock,
  ) {}

  /** Counts a refused request. Never waits, never throws. */
  note(call: RefusedCall, refusal: Refusal): void {
    const isNew = this.rows.note(call, refusal);
    if (this.isClosed) return;
    if (isNew) this.soon ??= setTimeout(() => void this.storeNew(), GATHER_MS).unref();
    this.renewLater();
  }

  /** Counts of earlier times are final and stored; milliseconds since the Unix epoch, infinity without open counts. */
  get sinceMs(): number {
    return this.rows.sinceMs;
  }

  /** Stores all counts. Returns after a failed attempt; the rest is retried within a second. */
  flush(): Promise<void> {
    return this.store(() => this.rows.outdated());
  }

  onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.soon);
    clearTimeout(this.later);
    return this.flush();
  }

  private renewLater(): void {
    this.later ??= setTimeout(() => void this.renew(), RENEW_MS).unref();
  }

  private storeNew(): Promise<void> {
    return this.store(() => {
      this.soon = undefined;
      return this.isAway ? [] : this.rows.unstored();
    });
  }

  private async renew(): Promise<void> {
    await this.store(() => {
      this.later = undefined;
      return this.rows.outdated();
    });
    this.rows.sweep(this.clock.nowMs());
    if (this.rows.size > 0 && !this.isClosed) this.renewLater();
  }

  /** @param choose selects the rows when the previous write has ended. */
  private store(choose: () => readonly RefusalRow[]): Promise<void> {
    this.writing = this.writing.then(() => this.write(choose()));
    return this.writing;
  }

  private async write(rows: readonly RefusalRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += BATCH_ROWS) {
      const batch = rows.slice(at, at + BATCH_ROWS);
      try {
        await storeEvents(batch.map(rowToStore), {
          insert: (some) => this.writes.countRefusals(arraysOfTexts(some)),
          reject: (refusals, error, place) => {
            this.incidents.rejected(refusals, error);
            // Logged once: the row is not sent again until its count rises.
            const row = batch[place];
            if (row !== undefined) markStored(row);
          },
        });
      } catch (error) {
        this.isAway = true;
        this.incidents.refusalsWriteFailed(rows.length - at, error);
        return;
      }
      for (const row of batch) markStored(row);
      this.isAway = false;
    }
  }
}
