import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { backoffMs } from '../platform/database/backoff.rules.js';
import { storeEvents } from '../usage/store-events.js';
import { AuthEventLosses } from './auth-event-losses.service.js';
import { AuthEventsRepository } from './auth-events.repository.js';

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
  /** JSON texts, oldest first. */
  private waiting: string[] = [];
  /** The batch of the running statement; never dropped, because it may already be stored. */
  private writing: readonly string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private attempt: Promise<boolean> | undefined;
  private failures = 0;
  private trouble: unknown = TOO_MANY;

  constructor(
    private readonly events: AuthEventsRepository,
    private readonly losses: AuthEventLosses,
  ) {}

  /** @param event from `authEventText`. */
  add(event: string): void {
    this.waiting.push(event);
    if (this.waiting.length + this.writing.length > MAX_EVENTS) {
      this.waiting.shift();
      this.losses.add(1, this.trouble);
    }
    if (this.waiting.length === BATCH_EVENTS) this.cancelPlan();
    this.plan();
  }

  /** Writes the waiting events now. Returns when all are stored, or after a failed attempt. */
  async flush(): Promise<void> {
    while (this.waiting.length > 0 || this.attempt !== undefined) {
      if (!(await this.writeNext())) return;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.flush();
    if (this.waiting.length > 0) this.losses.add(this.waiting.length, this.trouble);
    this.waiting = [];
    this.cancelPlan();
    this.losses.flush();
  }

  private plan(): void {
    const count = this.waiting.length;
    if (count === 0 || this.timer !== undefined || this.attempt !== undefined) return;
    const gatherMs = count >= BATCH_EVENTS ? 0 : GATHER_MS;
    const pauseMs = this.failures > 0 ? backoffMs(this.failures) : gatherMs;
    this.timer = setTimeout(() => void this.writeNext(), pauseMs).unref();
  }

  private cancelPlan(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** @returns false when the attempt failed. */
  private writeNext(): Promise<boolean> {
    this.cancelPlan();
    this.attempt ??= this.write().finally(() => {
      this.attempt = undefined;
      this.plan();
    });
    return this.attempt;
  }

  private async write(): Promise<boolean> {
    const refused = new Set<string>();
    this.writing = this.waiting.splice(0, BATCH_EVENTS);
    try {
      await storeEvents(this.writing, {
        insert: (json) => this.events.insert(json),
        reject: (event, error) => {
          refused.add(event);
          this.losses.add(1, error);
        },
      });
      this.failures = 0;
      this.trouble = TOO_MANY;
      return true;
    } catch (error) {
      this.waiting = [...this.writing.filter((event) => !refused.has(event)), ...this.waiting];
      this.failures++;
      this.trouble = error;
      return false;
    } finally {
      this.writing = [];
    }
  }
}
