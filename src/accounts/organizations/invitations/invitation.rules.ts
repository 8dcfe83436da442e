import { hash } from 'node:crypto';
import type { Instant } from '../../../common/clock.js';
import { isInForce } from '../../../common/credential-lifetime.rules.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import type { Secret } from '../../../common/log/secret.js';
import { isAtLeast } from '../../access/admin-access.rules.js';
import type { Role } from '../../access/admin-principal.js';
import { comparableEmail } from '../../access/email-address.js';

/** Lifetime of an invitation. */
export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;
/** Base62 characters of the token: 285 bits. */
export const INVITATION_TOKEN_CHARACTERS = 48;
/** Maximum number of pending invitations of one organization. */
const MAX_PENDING_INVITATIONS = 100;

/** `pending` is the only status that can change. */
export type InvitationStatus = 'pending' | 'accepted' | 'revoked' | 'expired';

/** The fields that determine the status of an invitation. */
interface InvitationEnds {
  readonly expiresAt: Instant;
  readonly acceptedAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** The fields that determine who may accept an invitation. */
export interface OfferedMembership extends InvitationEnds {
  readonly role: Role;
  readonly email: string | null;
  readonly acceptedBy: string | null;
}

/** A person that presents the token of an invitation. */
export interface InvitedPerson {
  readonly identityId: string;
  readonly email: string;
  /** Current role in the organization; `undefined` for a non-member. */
  readonly memberRole: Role | undefined;
}

/** The result of accepting an invitation, and the role afterwards. */
export interface Acceptance {
  /** `repeated`: this person accepted it before. `kept`: a member whose role is not below the offered one. */
  readonly outcome: 'joined' | 'raised' | 'kept' | 'repeated';
  readonly role: Role;
}

/** The form in which a token is stored and looked up, hexadecimal. The timing of the look-up reveals only the hash. */
export function hashInvitationToken(token: Secret): string {
  return hash('sha256', token.reveal(), 'hex');
}

/** @param nowMs milliseconds since the epoch; an invitation is expired from `expiresAt` on. */
export function statusOf({ expiresAt, acceptedAt, revokedAt }: InvitationEnds, nowMs: number): InvitationStatus {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return expiresAt.getTime() <= nowMs ? 'expired' : 'pending';
}

/**
 * Whether the token can be accepted now. A pending invitation that expires later than its lifetime allows was written
 * by a clock that was ahead (ADR 0014): it cannot be accepted yet, but stays pending, so that it can be revoked.
 */
export function canBeAccepted(offer: InvitationEnds, nowMs: number): boolean {
  return statusOf(offer, nowMs) === 'pending' && isInForce(offer.expiresAt.getTime(), INVITATION_LIFETIME_MS, nowMs);
}

/**
 * The result when a person accepts an invitation. A member keeps the higher of the two roles.
 *
 * @throws not_found the invitation is not pending, whatever the reason; forbidden it is for another e-mail address.
 */
export function acceptanceOf(offer: OfferedMembership, person: InvitedPerson, nowMs: number): Acceptance {
  const { identityId, email, memberRole } = person;
  if (offer.acceptedBy === identityId && memberRole !== undefined) return { outcome: 'repeated', role: memberRole };
  if (!canBeAccepted(offer, nowMs)) throw invitationGone();
  requireInvitedEmail(offer, email);
  if (memberRole === undefined) return { outcome: 'joined', role: offer.role };
  if (isAtLeast(memberRole, offer.role)) return { outcome: 'kept', role: memberRole };
  return { outcome: 'raised', role: offer.role };
}

/**
 * Refuses an e-mail address that the invitation is not for.
 *
 * @throws forbidden
 */
export function requireInvitedEmail(offer: Pick<OfferedMembership, 'email'>, email: string): void {
  if (offer.email === null || comparableEmail(offer.email) === comparableEmail(email)) return;
  throw new GatewayError('forbidden', {
    message: 'The invitation is for another e-mail address.',
    reason: 'invited_email_differs',
  });
}

/** Refusal of a token that is unknown or can no longer be accepted. */
export function invitationGone(): GatewayError {
  return new GatewayError('not_found', {
    message: 'Invitation not found: it was used or revoked, or has expired. Ask for a new one.',
    reason: 'invitation_gone',
  });
}

/**
 * Refuses to create or revoke an invitation for a role.
 *
 * @param ownRole `undefined` for a caller that is no longer a member.
 * @throws forbidden the role is above the caller's own, or the caller's role is `member`.
 * Source: docs/reference/security.md#roles-and-routes.
 */
export function requireMayOffer(ownRole: Role | undefined, role: Role): void {
  if (ownRole === undefined || ownRole === 'member') throw new GatewayError('forbidden', { reason: 'role_read_only' });
  if (!isAtLeast(ownRole, role)) {
    throw new GatewayError('forbidden', {
      message: 'An invitation may not offer a role above your own.',
      reason: 'offered_role_too_high',
    });
  }
}

/**
 * Enforces the limit of pending invitations of an organization.
 *
 * @param pending the current number.
 * @throws conflict
 * Source: OWASP API4:2023.
 */
export function requireInvitationLimit(pending: number): void {
  if (pending < MAX_PENDING_INVITATIONS) return;
  throw new GatewayError('conflict', {
    message: `${MAX_PENDING_INVITATIONS} invitations are open, the maximum; revoke one first.`,
    reason: 'too_many_invitations',
  });
}
