import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AppEntity } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';
import type { UsageTotals } from '../usage/reports/usage-totals.rules.js';

/** An end user of an application. */
@Entity('app_users')
@Check('app_users_status_check', "status IN ('active', 'blocked')")
@Index('app_users_blocked_idx', ['appId', 'id'], { where: "status = 'blocked'" })
@Index('app_users_claim_pending_idx', ['appId'], { where: 'claim_pending_since IS NOT NULL' })
@Index('app_users_recent_idx', { synchronize: false })
@Index('app_users_unseen_idx', ['recentAt'], { where: "status = 'active'" })
export class AppUserEntity {
  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @PrimaryColumn({ name: 'app_id', type: 'text', primaryKeyConstraintName: 'app_users_pkey' })
  @ForeignKey(() => AppEntity, { name: 'app_users_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'app_users_pkey' })
  id: string;

  @Column({ type: 'text' })
  status: 'active' | 'blocked';

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'last_seen_at', type: 'timestamptz', nullable: true })
  lastSeenAt: Instant | null;

  @Column({ name: 'claim_pending_since', type: 'timestamptz', nullable: true })
  claimPendingSince: Instant | null;

  @Column({ name: 'is_virtual', type: 'boolean', default: false })
  isVirtual: boolean;

  @Column({ name: 'recent_at', type: 'timestamptz', insert: false, update: false })
  recentAt: Instant;
}

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
  /** What counts against the user's budget of the month, in whole nano-dollars as text. */
  readonly spentNanoUsd: string;
}

/** A user with their usage in one month. Source: docs/reference/management-api.md#users. */
export interface UserView extends Omit<UserRow, 'spentNanoUsd'> {
  readonly usage: UsageTotals;
  /** US dollars. */
  readonly budgetSpentUsd: number;
  /** Whether spending has reached one of the budgets of each user as configured now; false without a budget. */
  readonly isAtLimit: boolean;
}

/** `recent`: last seen first; `cost`: the largest cost of the month; `budget`: the largest part of the budget. */
export const USER_ORDERS = ['recent', 'cost', 'budget'] as const;
export type UserOrder = (typeof USER_ORDERS)[number];

/** The place of a user in a list. Users of the same value are in the order of their ids. */
export interface UserPlace {
  /** Microseconds since the epoch, or whole nano-dollars, as text. */
  readonly value: string;
  readonly id: string;
}

/** A user in a list. */
export interface ListedUserRow extends UserRow, UserPlace {}

/** A budget of each user, in the period that a UTC day is in. */
export interface SpentBudget {
  readonly window: 'day' | 'week' | 'month';
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly nanoUsd: number;
}

/** Filter for the users of an application. */
export interface UserFilter {
  /** Substring of the id, matched literally. */
  readonly query?: string;
  readonly status?: UserStatus;
  /** Only users who have spent one of these budgets. */
  readonly spent?: readonly SpentBudget[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page of users: after a place, or by its offset. */
export interface UserListing extends UserFilter {
  readonly order: UserOrder;
  /** UTC, `YYYY-MM`. */
  readonly month: string;
  readonly after?: UserPlace | undefined;
}
