import type { Refusal, RefusedCall } from '../usage-event.js';
import { refusalMembers } from './usage-event.rules.js';

const MINUTE_MS = 60_000;

/** Refusals of one identity, for one reason, within one minute. */
export interface RefusalRow {
  /** The row's JSON members except its counts, from {@link refusalMembers}. */
  readonly members: string;
  /** Minutes since the Unix epoch. */
  readonly minute: number;
  /** Refusals counted so far. */
  requests: number;
  /** The part of `requests` that is confirmed stored or rejected. */
  stored: number;
  /** The count of the write in progress, unchanged until that write is confirmed; 0 = none. */
  sending: number;
}

/**
 * Refusal rows that may still grow or are not stored yet. At most `max` rows belong to single identities. At that limit
 * the refusals of further identities share one row per application and reason, without user and key, so the number of
 * applications bounds the shared rows: a reason is one of the code's own.
 *
 * Source: docs/reference/accounting.md#counted-refusals.
 */
export class RefusalRows {
  private readonly rows = new Map<string, RefusalRow>();

  constructor(private readonly max: number) {}

  get size(): number {
    return this.rows.size;
  }

  /** Start of the oldest minute that has a row, in milliseconds since the Unix epoch; infinity without rows. */
  get sinceMs(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { minute } of this.rows.values()) first = Math.min(first, minute);
    return first * MINUTE_MS;
  }

  /**
   * Counts a refusal.
   *
   * @returns true when it starts a new row.
   */
  note(call: RefusedCall, refusal: Refusal): boolean {
    const { appId, userId, apiKeyId, createdAtMs } = call;
    const minute = minuteOf(createdAtMs);
    const { group } = refusal;
    const ofGroup = group === undefined ? '' : `\n${group}\n${call.groups?.[group]}`;
    const why = `${refusal.status}\n${refusal.code}\n${refusal.reason}`;
    const own = `${appId}\n${why}${ofGroup}\n${apiKeyId}\n${minute}\n${userId}`;
    if (this.count(own)) return false;
    if (this.rows.size < this.max) return this.begin(own, call, refusal);
    const shared = `${appId}\n${why}`;
    if (this.count(shared)) return false;
    return this.begin(shared, { ...call, userId: null, apiKeyId: null, appVersion: null, groups: null }, refusal);
  }

  /** Rows that have never been stored. */
  unstored(): RefusalRow[] {
    return [...this.rows.values()].filter((row) => row.stored === 0);
  }

  /** Rows whose stored count is lower than their count. */
  outdated(): RefusalRow[] {
    return [...this.rows.values()].filter((row) => row.stored < row.requests);
  }

  /** Removes stored rows of past minutes; they cannot grow any more. */
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

  private begin(key: string, call: RefusedCall, refusal: Refusal): true {
    const members = refusalMembers(call, refusal);
    this.rows.set(key, { members, minute: minuteOf(call.createdAtMs), requests: 1, stored: 0, sending: 0 });
    return true;
  }
}

/**
 * The row as JSON text, with its absolute count and the stored count that it raises. Until {@link markStored} the text
 * stays the same although further refusals are counted, so a repeated write adds nothing.
 */
export function rowToStore(row: RefusalRow): string {
  if (row.sending === 0) row.sending = row.requests;
  return `{${row.members},"requests":${row.sending},"requests_before":${row.stored}}`;
}

/** Confirms that the count of {@link rowToStore} is stored or rejected. Idempotent. */
export function markStored(row: RefusalRow): void {
  if (row.sending === 0) return;
  row.stored = row.sending;
  row.sending = 0;
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
