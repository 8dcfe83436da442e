import type { Instant } from '../common/clock.js';
import type { UsageTotals } from '../usage-reports/usage-totals.js';

/** Whether a user may call the application. */
export type UserStatus = 'active' | 'blocked';

/** A user who exchanged a proof, or was blocked, as those who admit them see them. */
export interface StoredUser {
  readonly id: string;
  readonly status: UserStatus;
  /** At most a minute behind; null before the first exchange. */
  readonly lastSeenAt: Instant | null;
  /** When a required claim was first missing; null while none is. */
  readonly claimPendingSince: Instant | null;
}

/** A user as people see them. */
export interface UserRow {
  readonly id: string;
  readonly status: UserStatus;
  readonly createdAt: Instant;
  readonly lastSeenAt: Instant | null;
  /** Active, and never exchanged a proof: known from usage, or from a block that ended. */
  readonly isVirtual: boolean;
  /** The attestation key used last; null where there is none. */
  readonly attestKeyId: string | null;
  /** Whole, as text. */
  readonly attestCounter: string | null;
}

/** A user with their usage of one month. Source: docs/reference/management-api.md#users. */
export interface UserView extends UserRow {
  readonly usage: UsageTotals;
}

/** Which users of an application to list. */
export interface UserFilter {
  /** Part of the id, taken literally. */
  readonly query?: string;
  readonly status?: UserStatus;
  readonly limit: number;
  readonly offset: number;
}
