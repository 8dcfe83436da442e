import type { Ready } from '../common/when-ready.js';

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

/** Port to what is recorded of requests: counters begin with it after a restart. The usage room implements it. */
export abstract class RecordedRequests {
  /**
   * Requests of a UTC day that were not refused and are stored.
   *
   * @param day UTC, `YYYY-MM-DD`.
   */
  abstract countOn(scope: RecordedScope, day: string): Ready<number>;

  /**
   * The same of every user and application, minute by minute: all calls that were sent before this process began, those
   * of a process that was killed included.
   *
   * @param fromMs begin of the first minute; milliseconds since the Unix epoch.
   */
  abstract listMinutes(fromMs: number): Promise<readonly RecordedMinute[]>;
}
