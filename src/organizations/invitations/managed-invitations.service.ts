import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import type { AdminPrincipal, Role } from '../../identity/admin-principal.js';
import { AuditTrail } from '../../identity/audit/audit-trail.js';
import { MembersRepository } from '../members/members.repository.js';
import {
  hashInvitationToken,
  INVITATION_LIFETIME_MS,
  INVITATION_TOKEN_CHARACTERS,
  type InvitationStatus,
  requireMayOffer,
  requireRoomForInvitation,
  statusOf,
} from './invitation.rules.js';
import { type InvitationRow, InvitationsRepository } from './invitations.repository.js';

/** An invitation as the admins of the organization see it. */
export interface ManagedInvitation extends InvitationRow {
  readonly status: InvitationStatus;
}

/** A new invitation and its token. Only this result holds the token. */
export interface WrittenInvitation {
  readonly invitation: ManagedInvitation;
  readonly token: Secret;
}

/** Creates, lists and revokes invitations. No mail is sent: the inviter passes the link on. */
@Injectable()
export class ManagedInvitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: InvitationsRepository,
    private readonly members: MembersRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * @param offer the offered role, and optionally the only e-mail address that may accept.
   * @throws forbidden the role is above the inviter's own; conflict the limit of pending invitations is reached.
   */
  create(admin: AdminPrincipal, offer: { readonly role: Role; readonly email?: string }): Promise<WrittenInvitation> {
    const token = new Secret(this.ids.base62(INVITATION_TOKEN_CHARACTERS));
    return this.dataSource.transaction(async (tx) => {
      await this.members.lock(tx, admin.organizationId);
      await this.requireMayOffer(tx, admin, offer.role);
      const now = this.clock.now();
      requireRoomForInvitation(await this.repository.countPending(tx, admin.organizationId, now));
      const invitation = this.draft(admin, offer, now);
      await this.repository.insert(tx, invitation, hashInvitationToken(token));
      await this.record(tx, admin, 'created', invitation);
      return { invitation: this.withStatus(invitation), token };
    });
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
      await this.members.lock(tx, organizationId);
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

  /** Checks the current role, which cannot change while the organization's members are locked. */
  private async requireMayOffer(tx: EntityManager, admin: AdminPrincipal, role: Role): Promise<void> {
    const own = await this.members.find(tx, admin.organizationId, admin.identityId);
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

function alreadyAccepted(): GatewayError {
  return new GatewayError('conflict', {
    message: 'The invitation has been accepted; remove the member instead.',
    reason: 'invitation_accepted',
  });
}
