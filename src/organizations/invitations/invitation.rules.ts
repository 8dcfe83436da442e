import { hash } from 'node:crypto';
import type { Instant } from '../../common/clock.js';
import { isInForce } from '../../common/credential-lifetime.rules.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { isAtLeast } from '../../identity/admin-permission.rules.js';
import type { Role } from '../../identity/admin-principal.js';
import { comparableEmail } from '../../identity/email-address.js';

/** How long an invitation can be accepted. */
export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;
/** Base62 characters of the token: 285 bits. */
export const INVITATION_TOKEN_CHARACTERS = 48;
/** Invitations of one organization that can be accepted at the same time. */
const MAX_PENDING_INVITATIONS = 100;

/** What became of an invitation; `pending` is the only status that can change. */
export type InvitationStatus = 'pending' | 'accepted' | 'revoked' | 'expired';

/** What decides an invitation's status. */
interface InvitationEnds {
  readonly expiresAt: Instant;
  readonly acceptedAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** What decides who may accept an invitation. */
export interface OfferedMembership extends InvitationEnds {
  readonly role: Role;
  readonly email: string | null;
  readonly acceptedBy: string | null;
}

/** A person with an invitation's token in their hands. */
export interface InvitedPerson {
  readonly identityId: string;
  readonly email: string;
  /** Their role in the organization, if they belong to it already. */
  readonly memberRole: Role | undefined;
}

/** What accepting comes to, and the role the person then has. */
export interface Acceptance {
  /** `repeated`: it was this person who accepted it before. `kept`: a member whose role is not below the one offered. */
  readonly outcome: 'joined' | 'raised' | 'kept' | 'repeated';
  readonly role: Role;
}

/** The form an invitation's token is stored and looked up in, hexadecimal: what its timing tells is of no use. */
export function hashInvitationToken(token: Secret): string {
  return hash('sha256', token.reveal(), 'hex');
}

/** @param nowMs milliseconds since the epoch; an invitation ends at its last instant. */
export function statusOf({ expiresAt, acceptedAt, revokedAt }: InvitationEnds, nowMs: number): InvitationStatus {
  if (acceptedAt !== null) return 'accepted';
  if (revokedAt !== null) return 'revoked';
  return expiresAt.getTime() <= nowMs ? 'expired' : 'pending';
}

/**
 * Whether its token opens anything now. A pending one may not, while its end is further off than its lifetime: a clock
 * that was ahead wrote it (ADR 0038). It stays pending, so that it can be revoked before its time comes.
 */
export function canBeAccepted(offer: InvitationEnds, nowMs: number): boolean {
  return statusOf(offer, nowMs) === 'pending' && isInForce(offer.expiresAt.getTime(), INVITATION_LIFETIME_MS, nowMs);
}

/**
 * Judges who accepts an invitation. Whoever belongs to the organization keeps the higher of two roles.
 *
 * @throws not_found it is over, alike for whatever reason; forbidden it is for another e-mail address.
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
 * Refuses an e-mail address that an invitation is not for.
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

/** The refusal of a token that opens nothing (any more). */
export function invitationGone(): GatewayError {
  return new GatewayError('not_found', {
    message: 'No such invitation: it was used or revoked, or its time is over. Ask for another one.',
    reason: 'invitation_gone',
  });
}

/**
 * Refuses to offer a role, or to take such an offer back.
 *
 * @param ownRole `undefined` for somebody who has just left.
 * @throws forbidden the role is above the own one, or that is `member`.
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
 * Refuses one more invitation of an organization.
 *
 * @param pending how many can be accepted now.
 * @throws conflict
 * Source: OWASP API4:2023.
 */
export function requireRoomForInvitation(pending: number): void {
  if (pending < MAX_PENDING_INVITATIONS) return;
  throw new GatewayError('conflict', {
    message: `${MAX_PENDING_INVITATIONS} invitations can be accepted now, and no more may be; revoke one first.`,
    reason: 'too_many_invitations',
  });
}
