import type { Ready } from '../../common/when-ready.js';

/** Whose recorded requests are asked for. */
export interface RecordedScope {
  readonly organizationId: string;
  readonly appId: string;
  /** Null: of the whole application. */
  readonly userId: string | null;
}

/** Port to what is recorded of requests: counters begin with it after a restart. The usage room implements it. */
export abstract class RecordedRequests {
  /**
   * Requests of a UTC day that were not refused and are stored.
   *
   * @param day UTC, `YYYY-MM-DD`.
   */
  abstract countOn(scope: RecordedScope, day: string): Ready<number>;
}
