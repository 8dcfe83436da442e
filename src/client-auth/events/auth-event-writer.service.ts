import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Log } from '../../common/log/log.js';
import { WriteBatch } from '../../platform/database/write-batch.js';
import { storeEvents } from '../../usage/recording/store-events.js';
import { AuthEventsRepository } from './auth-events.repository.js';

const LOG_EVERY_MS = 1_000;

/** Counts lost events and logs them: at once, then at most once a second. */
@Injectable()
export class AuthEventLosses {
  private unreported = 0;
  private error: unknown;
  /** Set while no further line may be written. */
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly log: Log) {}

  /** @param error the cause; the log line holds the latest. */
  add(events: number, error: unknown): void {
    this.unreported += events;
    this.error = error;
    if (this.timer === undefined) this.logAndPause();
  }

  /** Logs the pending count now, also within the second. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.logPending();
  }

  private logAndPause(): void {
    this.logPending();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.unreported > 0) this.logAndPause();
    }, LOG_EVERY_MS).unref();
  }

  private logPending(): void {
    if (this.unreported === 0) return;
    this.log.event('auth_event_record_failed', { events: this.unreported, error: String(this.error) });
    this.unreported = 0;
  }
}

/** Maximum number of events in one statement. */
const BATCH_EVENTS = 500;
/** Maximum time that an event waits for its batch, in milliseconds. */
const GATHER_MS = 200;
/** Maximum number of events in memory; beyond it the oldest are dropped. */
const MAX_EVENTS = 10_000;
/** The logged cause of a drop when no statement has failed. */
const TOO_MANY = 'more events than can be kept';

/**
 * Writes events to Postgres in the background: in batches, one statement at a time, in order. While Postgres is
 * unavailable, events wait in memory and the insert is retried with backoff. A killed process loses the waiting events;
 * no decision depends on these records.
 */
@Injectable()
export class AuthEventWriter implements OnApplicationShutdown {
  /** JSON texts. */
  private readonly batch = new WriteBatch<string>({
    maxItems: BATCH_EVENTS,
    gatherMs: GATHER_MS,
    run: (events) => this.write(events),
  });
  /** The logged cause of a drop. */
  private lastError: unknown = TOO_MANY;

  constructor(
    private readonly events: AuthEventsRepository,
    private readonly losses: AuthEventLosses,
  ) {}

  /** @param event from `authEventText`. */
  add(event: string): void {
    this.batch.add(event);
    if (this.batch.waiting + this.batch.running > MAX_EVENTS) {
      this.batch.dropOldest();
      this.losses.add(1, this.lastError);
    }
  }

  /** Writes the waiting events now. Returns when all are stored, or after a failed attempt. */
  flush(): Promise<void> {
    return this.batch.run();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    const { length } = this.batch.close();
    if (length > 0) this.losses.add(length, this.lastError);
    this.losses.flush();
  }

  /** @returns the events to retry: all but those that Postgres rejects. */
  private async write(events: readonly string[]): Promise<readonly string[]> {
    const rejected = new Set<string>();
    try {
      await storeEvents(events, {
        insert: (some) => this.events.insert(`[${some.join(',')}]`),
        reject: (event, error) => {
          rejected.add(event);
          this.losses.add(1, error);
        },
      });
      this.lastError = TOO_MANY;
      return [];
    } catch (error) {
      this.lastError = error;
      return events.filter((event) => !rejected.has(event));
    }
  }
}
