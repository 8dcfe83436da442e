import type { Instant } from '../common/clock.js';
import type { AdminPrincipal, Role } from '../identity/admin-principal.js';

/** An organization as its members see it. Source: docs/reference/management-api.md#organizations-and-members. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Instant;
  /** Whether a person owns it. */
  readonly claimed: boolean;
  /** Null for one without a deadline. */
  readonly expiresAt: Instant | null;
}

/** What somebody is in one organization. */
export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
  readonly joinedAt: Instant;
}

/** A person or service identity, as they see themselves. */
export interface SignedInUser {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly kind: 'human' | 'service';
  readonly emailVerified: boolean;
  readonly image: string | null;
  readonly createdAt: Instant;
}

/**
 * Who calls, where they act, and where else they could.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export interface AdminSession extends Pick<AdminPrincipal, 'credentialType' | 'actor'> {
  readonly user: SignedInUser;
  /** Null for a person who belongs to no organization. */
  readonly current: Membership | null;
  /** Of a person all, of a key the one it was made for; the oldest organization first. */
  readonly memberships: readonly Membership[];
}
