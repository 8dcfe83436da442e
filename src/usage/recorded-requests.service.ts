import { Injectable } from '@nestjs/common';
import { UsageRepository } from './usage.repository.js';

/** Whose recorded requests are asked for. */
export interface RecordedScope {
  readonly organizationId: string;
  readonly appId: string;
  /** Null: of the whole application. */
  readonly userId: string | null;
}

/** Requests of one scope in one minute. */
export interface RecordedMinute {
  readonly appId: string;
  /** Empty for the whole application. */
  readonly userId: string;
  /** Milliseconds since the Unix epoch. */
  readonly minuteStartMs: number;
  readonly requests: number;
}

/** Recorded requests, which counters of limits begin with after a restart. */
@Injectable()
export class RecordedRequests {
  constructor(private readonly events: UsageRepository) {}

  /**
   * Requests of a UTC day that were not refused and are stored.
   *
   * @param day UTC, `YYYY-MM-DD`.
   */
  countOn({ organizationId, appId, userId }: RecordedScope, day: string): Promise<number> {
    const app = { organizationId, id: appId };
    return userId === null
      ? this.events.countRequestsOn(app, day)
      : this.events.countRequestsOfUserOn(app, userId, day);
  }

  /**
   * The same of every user and application, minute by minute: all calls that were sent before this process began, those
   * of a process that was killed included.
   *
   * @param fromMs begin of the first minute; milliseconds since the Unix epoch.
   */
  listMinutes(fromMs: number): Promise<readonly RecordedMinute[]> {
    return this.events.listMinutes(fromMs);
  }
}
