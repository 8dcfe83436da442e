import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { backoffMs } from '../platform/database/backoff.rules.js';
import { storeEvents } from '../usage/store-events.js';
import { AuthEventLosses } from './auth-event-losses.service.js';
import { AuthEventsRepository } from './auth-events.repository.js';

/** Most events in one statement. */
const BATCH_EVENTS = 500;
/** Longest an event waits for others to share a statement with. */
const GATHER_MS = 200;
/** Most events in memory; beyond it the oldest give way. */
const MAX_EVENTS = 10_000;
/** Why events give way while no statement has failed. */
const TOO_MANY = 'more events than can be kept';

/**
 * Brings events to Postgres in the background: many in one statement, one statement at a time, in their order. While
 * Postgres is away they wait in memory, and it is asked again after growing pauses. A killed process loses what waits:
 * these records serve people, no decision is made by them.
 */
@Injectable()
export class AuthEventWriter implements OnApplicationShutdown {
  /** JSON texts, oldest first. */
  private waiting: string[] = [];
  /** Those of the statement under way: perhaps stored already, so never dropped. */
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

  /** Writes what waits now. Returns when everything is stored, or after an attempt that failed. */
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
