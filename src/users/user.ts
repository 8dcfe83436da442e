import type { Instant } from '../common/clock.js';
import type { UsageTotals } from '../usage-reports/usage-totals.js';

/** A blocked user may not call the application. */
export type UserStatus = 'active' | 'blocked';

/** A user that exchanged a proof or was blocked, for admission. */
export interface StoredUser {
  readonly id: string;
  readonly status: UserStatus;
  /** At most one minute behind; null before the first exchange. */
  readonly lastSeenAt: Instant | null;
  /** When a required claim was first missing; null when none is. */
  readonly claimPendingSince: Instant | null;
}

/** A user for display. */
export interface UserRow {
  readonly id: string;
  readonly status: UserStatus;
  readonly createdAt: Instant;
  readonly lastSeenAt: Instant | null;
  /** Active, and never exchanged a proof: known only from usage, or from a block that ended. */
  readonly isVirtual: boolean;
  /** The most recently used attestation key; null without one. */
  readonly attestKeyId: string | null;
  /** An integer, as text. */
  readonly attestCounter: string | null;
}

/** A user with their usage in one month. Source: docs/reference/management-api.md#users. */
export interface UserView extends UserRow {
  readonly usage: UsageTotals;
}

/** Filter for the users of an application. */
export interface UserFilter {
  /** Substring of the id, matched literally. */
  readonly query?: string;
  readonly status?: UserStatus;
  readonly limit: number;
  readonly offset: number;
}
