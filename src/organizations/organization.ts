import type { Instant } from '../common/clock.js';
import type { AdminPrincipal, Role } from '../identity/admin-principal.js';

/** An organization as its members see it. Source: docs/reference/management-api.md#organizations-and-members. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Instant;
  /** Whether a person owns it. */
  readonly claimed: boolean;
  /** Null: it does not expire. */
  readonly expiresAt: Instant | null;
}

/** The membership of an identity in one organization. */
export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
  readonly joinedAt: Instant;
}

/** A person or service identity, as it sees itself. */
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
 * The caller, its current organization and its other memberships.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export interface AdminSession extends Pick<AdminPrincipal, 'credentialType' | 'actor'> {
  readonly user: SignedInUser;
  /** Null for a person without an organization. */
  readonly current: Membership | null;
  /** All memberships of a person, or the one organization of a key; oldest organization first. */
  readonly memberships: readonly Membership[];
}
