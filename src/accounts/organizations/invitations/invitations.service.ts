import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, type Instant, instantOf } from '../../../common/clock.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { Ids } from '../../../common/ids.js';
import { Secret } from '../../../common/log/secret.js';
import { MailOutbox } from '../../../platform/outbox/mail-outbox.js';
import {
  type ActingPerson,
  type AdminPrincipal,
  type PersonPrincipal,
  personActor,
  type Role,
} from '../../access/admin-principal.js';
import { type AuditEntry, AuditTrail } from '../../audit/audit-trail.js';
import { ConsoleOrigin } from '../../csrf/csrf-origins.js';
import { OrganizationsRepository } from '../organizations.repository.js';
import {
  type Acceptance,
  acceptanceOf,
  canBeAccepted,
  hashInvitationToken,
  INVITATION_LIFETIME_MS,
  INVITATION_TOKEN_CHARACTERS,
  type InvitationStatus,
  invitationGone,
  requireInvitationLimit,
  requireInvitedEmail,
  requireMayOffer,
  statusOf,
} from './invitation.rules.js';
import { type InvitationRow, InvitationsRepository, type InvitationToOrganization } from './invitations.repository.js';

/** An invitation as the admins of the organization see it. */
export interface ManagedInvitation extends InvitationRow {
  readonly status: InvitationStatus;
}

/** A new invitation and its token. Only this result holds the token. */
export interface CreatedInvitation {
  readonly invitation: ManagedInvitation;
  readonly token: Secret;
  /** Whether the link is mailed to the address of the invitation. */
  readonly isMailed: boolean;
}

/** A signed-in or newly signed-up person that accepts an invitation. */
export interface AcceptingPerson extends ActingPerson {
  readonly email: string;
}

/** The organization of an accepted invitation. */
export interface JoinedOrganization {
  readonly organizationId: string;
  /** The person's role in it after the acceptance. */
  readonly role: Role;
}

/**
 * Invitations: admins create, list and revoke them; a holder of a link's token reads and accepts one. The link is
 * mailed where mail is configured and the invitation has an address; the inviter can pass it on in any case.
 */
@Injectable()
export class Invitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: InvitationsRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly trail: AuditTrail,
    private readonly mails: MailOutbox,
    private readonly origin: ConsoleOrigin,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * @param offer the offered role, and optionally the only e-mail address that may accept.
   * @throws forbidden the role is above the inviter's own; conflict the limit of pending invitations is reached.
   */
  create(admin: AdminPrincipal, offer: { readonly role: Role; readonly email?: string }): Promise<CreatedInvitation> {
    const token = new Secret(this.ids.base62(INVITATION_TOKEN_CHARACTERS));
    return this.dataSource.transaction(async (tx) => {
      await this.organizations.lock(tx, admin.organizationId);
      await this.requireMayOffer(tx, admin, offer.role);
      const now = this.clock.now();
      requireInvitationLimit(await this.repository.countPending(tx, admin.organizationId, now));
      const invitation = this.draft(admin, offer, now);
      await this.repository.insert(tx, invitation, hashInvitationToken(token));
      await this.record(tx, admin, 'created', invitation);
      const link = new Secret(this.linkOf(token));
      const isMailed = invitation.email !== null && (await this.mails.addInvitation(tx, invitation, link));
      return { invitation: this.withStatus(invitation), token, isMailed };
    });
  }

  /** The page on which an invitation is accepted. */
  linkOf(token: Secret): string {
    return `${this.origin.url}/invite#${token.reveal()}`;
  }

  /** Newest first. */
  async list({ organizationId }: AdminPrincipal): Promise<readonly ManagedInvitation[]> {
    return (await this.repository.listOf(organizationId)).map((row) => this.withStatus(row));
  }

  /**
   * Revokes an invitation. One that has expired or is already revoked stays as it is.
   *
   * @throws not_found the organization has no such invitation; conflict it was accepted; forbidden as `create`.
   */
  revoke(admin: AdminPrincipal, id: string): Promise<ManagedInvitation> {
    return this.dataSource.transaction(async (tx) => {
      const { organizationId } = admin;
      await this.organizations.lock(tx, organizationId);
      const found = await this.repository.find(tx, organizationId, id);
      if (found === undefined) throw new GatewayError('not_found');
      await this.requireMayOffer(tx, admin, found.role);
      const now = this.clock.now();
      const status = statusOf(found, now.getTime());
      if (status === 'accepted') throw alreadyAccepted();
      if (status !== 'pending') return this.withStatus(found);
      await this.repository.markRevoked(tx, organizationId, id, now);
      await this.record(tx, admin, 'revoked', found);
      return this.withStatus({ ...found, revokedAt: now });
    });
  }

  /** The invitation of a token. @throws not_found for every token that cannot be accepted, without distinction. */
  async details(token: Secret): Promise<InvitationToOrganization> {
    const now = this.clock.now();
    const invitation = await this.repository.findByToken(hashInvitationToken(token), now);
    if (invitation === undefined || !canBeAccepted(invitation, now.getTime())) throw invitationGone();
    return invitation;
  }

  /**
   * Refuses an e-mail address that may not accept the invitation. The result does not depend on whether it is
   * registered.
   *
   * @throws not_found as `details`; forbidden the invitation is for another address.
   */
  async requireInvited(token: Secret, email: string): Promise<void> {
    requireInvitedEmail(await this.details(token), email);
  }

  /** As `accept`, for a signed-in person. */
  async acceptNow(token: Secret, { identityId, sessionId }: PersonPrincipal): Promise<JoinedOrganization> {
    const { email } = (await this.organizations.findUser(identityId)) ?? {};
    if (!email) throw invitationGone();
    return this.dataSource.transaction((tx) => this.accept(tx, token, { identityId, sessionId, email }));
  }

  /**
   * Makes a person a member of the inviting organization. Of several people with one token, the first succeeds. A
   * repeated call by the same person returns the same result.
   *
   * @throws not_found the token is unknown or can no longer be accepted; forbidden it is for another e-mail address.
   */
  async accept(tx: EntityManager, token: Secret, person: AcceptingPerson): Promise<JoinedOrganization> {
    const { identityId } = person;
    const now = this.clock.now();
    const found = await this.repository.findByToken(hashInvitationToken(token), now, tx);
    if (found === undefined) throw invitationGone();
    const { id, organizationId } = found;
    await this.organizations.lock(tx, organizationId);
    const offer = await this.repository.find(tx, organizationId, id);
    if (offer === undefined) throw invitationGone();
    const member = await this.organizations.findMember(tx, organizationId, identityId);
    const { outcome, role } = acceptanceOf(offer, { ...person, memberRole: member?.role }, now.getTime());
    if (outcome === 'repeated') return { organizationId, role };
    if (outcome === 'joined') {
      await this.organizations.insertMember(tx, { organizationId, identityId, role, joinedAt: now });
    }
    if (outcome === 'raised') await this.organizations.setRole(tx, organizationId, identityId, role);
    await this.repository.markAccepted(tx, offer, identityId, now);
    await this.trail.record(tx, personActor(organizationId, person), entryOf({ outcome, role }, id, identityId));
    return { organizationId, role };
  }

  /** Checks the current role, which cannot change while the organization's members are locked. */
  private async requireMayOffer(tx: EntityManager, admin: AdminPrincipal, role: Role): Promise<void> {
    const own = await this.organizations.findMember(tx, admin.organizationId, admin.identityId);
    requireMayOffer(own?.role, role);
  }

  private draft(
    { organizationId, identityId }: AdminPrincipal,
    { role, email = null }: { readonly role: Role; readonly email?: string | null },
    createdAt: Instant,
  ): InvitationRow {
    const expiresAt = instantOf(createdAt.getTime() + INVITATION_LIFETIME_MS);
    const end = { acceptedAt: null, acceptedBy: null, revokedAt: null };
    const id = `inv_${this.ids.base36(20)}`;
    return { id, organizationId, role, email, invitedBy: identityId, createdAt, expiresAt, ...end };
  }

  private withStatus(row: InvitationRow): ManagedInvitation {
    return { ...row, status: statusOf(row, this.clock.nowMs()) };
  }

  private record(
    tx: EntityManager,
    admin: AdminPrincipal,
    done: 'created' | 'revoked',
    { id, role }: InvitationRow,
  ): Promise<void> {
    return this.trail.record(tx, admin, {
      action: `invitation.${done}`,
      targetType: 'invitation',
      targetId: id,
      details: { role },
    });
  }
}

function entryOf({ outcome, role }: Acceptance, invitationId: string, identityId: string): AuditEntry {
  const member = { targetType: 'member', targetId: identityId, details: { role, invitationId } };
  if (outcome === 'joined') return { action: 'member.joined', ...member };
  if (outcome === 'raised') return { action: 'member.role_changed', ...member };
  return { action: 'invitation.accepted', targetType: 'invitation', targetId: invitationId };
}

function alreadyAccepted(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The invitation has been accepted; remove the member instead.',
    reason: 'invitation_accepted',
  });
}
