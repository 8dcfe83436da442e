import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { markStored, type RefusalRow, RefusalRows, rowToStore } from './event/refusal-rows.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { storeEvents } from './store-events.js';
import type { RefusedStatus, UsageAdmission } from './usage-event.js';
import { UsageIncidents } from './usage-incidents.service.js';

/** Identities whose refusals are counted apart at the same time. */
const MAX_ROWS = 10_000;
/** Most rows in one statement. */
const BATCH_ROWS = 500;
/** Longest a new row waits for others to share a statement with. */
const GATHER_MS = 100;
/** How often counts that have grown are brought up to date, and Postgres is asked again while it is away. */
const RENEW_MS = 1_000;

/**
 * Records refused requests: as usage events without cost, one for all refusals of an identity for one reason within a
 * minute, so that an attack cannot fill the table and counts stay exact. They are not journaled: a
 * process that is killed loses what it counted in the last second, or since Postgres went away.
 */
@Injectable()
export class UsageRefusals implements OnApplicationShutdown {
  private readonly rows = new RefusalRows(MAX_ROWS);
  private soon: NodeJS.Timeout | undefined;
  private later: NodeJS.Timeout | undefined;
  /** One statement at a time: what the next one says depends on what the last one stored. */
  private writing: Promise<void> = Promise.resolve();
  private isAway = false;
  private isClosed = false;

  constructor(
    private readonly writes: UsageWritesRepository,
    private readonly incidents: UsageIncidents,
    private readonly clock: Clock,
  ) {}

  /** Counts a refused request. Never waits, never throws. */
  note(admission: UsageAdmission, status: RefusedStatus): void {
    const isNew = this.rows.note(admission, status);
    if (this.isClosed) return;
    if (isNew) this.soon ??= setTimeout(() => void this.storeNew(), GATHER_MS).unref();
    this.renewLater();
  }

  /** Stores what was counted. Returns after an attempt that failed: what is left is tried again within a second. */
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

  /** @param choose is asked when its turn has come. */
  private store(choose: () => readonly RefusalRow[]): Promise<void> {
    this.writing = this.writing.then(() => this.write(choose()));
    return this.writing;
  }

  private async write(rows: readonly RefusalRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += BATCH_ROWS) {
      const batch = rows.slice(at, at + BATCH_ROWS);
      try {
        await storeEvents(batch.map(rowToStore), {
          insert: (json) => this.writes.countRefusals(json),
          reject: (refusals, error, place) => {
            this.incidents.rejected(refusals, error);
            // Said once: it is not sent again before its count rises.
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
