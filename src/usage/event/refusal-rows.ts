import type { RefusedStatus, UsageAdmission } from '../usage-event.js';
import { refusalMembers } from './usage-event.rules.js';

const MINUTE_MS = 60_000;

/** Refusals that share a row, because one identity was refused for one reason within one minute. */
export interface RefusalRow {
  /** What the row says beside its count, from {@link refusalMembers}. */
  readonly members: string;
  /** Since the Unix epoch, UTC. */
  readonly minute: number;
  /** Refusals so far. */
  requests: number;
  /** How many of them are known to be stored, or set aside. */
  stored: number;
  /** The count that is being stored: the same one until that is known to have succeeded; 0 = none. */
  sending: number;
}

/**
 * The rows of refusals that may still grow or wait to be stored. At most `max` of identities; while there are as many,
 * further identities share one row an application and status, without user and key, which is bounded by the
 * applications there are.
 *
 * Source: docs/reference/accounting.md#counted-refusals.
 */
export class RefusalRows {
  private readonly rows = new Map<string, RefusalRow>();

  constructor(private readonly max: number) {}

  get size(): number {
    return this.rows.size;
  }

  /**
   * Counts a refusal.
   *
   * @returns true when it begins a row.
   */
  note(admission: UsageAdmission, status: RefusedStatus): boolean {
    const { appId, userId, apiKeyId, createdAtMs } = admission;
    const minute = minuteOf(createdAtMs);
    const own = `${appId}\n${status}\n${apiKeyId}\n${minute}\n${userId}`;
    if (this.count(own)) return false;
    if (this.rows.size < this.max) return this.begin(own, admission, status);
    const shared = `${appId}\n${status}`;
    if (this.count(shared)) return false;
    return this.begin(shared, { ...admission, userId: null, apiKeyId: null, appVersion: null }, status);
  }

  /** Rows Postgres does not know of yet. */
  unstored(): RefusalRow[] {
    return [...this.rows.values()].filter((row) => row.stored === 0);
  }

  /** Rows whose stored count is too low. */
  outdated(): RefusalRow[] {
    return [...this.rows.values()].filter((row) => row.stored < row.requests);
  }

  /** Forgets rows that can no longer grow, once they are stored. */
  sweep(nowMs: number): void {
    const minute = minuteOf(nowMs);
    for (const [key, row] of this.rows) {
      if (row.minute !== minute && row.stored === row.requests) this.rows.delete(key);
    }
  }

  private count(key: string): boolean {
    const row = this.rows.get(key);
    if (row !== undefined) row.requests++;
    return row !== undefined;
  }

  private begin(key: string, admission: UsageAdmission, status: RefusedStatus): true {
    const members = refusalMembers(admission, status);
    this.rows.set(key, { members, minute: minuteOf(admission.createdAtMs), requests: 1, stored: 0, sending: 0 });
    return true;
  }
}

/**
 * The row as JSON text with its count, absolute, and what the count raises. Asked again before {@link markStored}, it
 * says the same, however many refusals came meanwhile: so what is stored twice adds nothing.
 */
export function rowToStore(row: RefusalRow): string {
  if (row.sending === 0) row.sending = row.requests;
  return `{${row.members},"requests":${row.sending},"requests_before":${row.stored}}`;
}

/** Postgres has what {@link rowToStore} said, or will never take it. Told again, it changes nothing. */
export function markStored(row: RefusalRow): void {
  if (row.sending === 0) return;
  row.stored = row.sending;
  row.sending = 0;
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
