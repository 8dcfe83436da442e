import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../../common/clock.js';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import type { AdminPrincipal, Role } from '../../access/admin-principal.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { auditedChanges } from '../../audit/audited-changes.rules.js';
import { ManagementKeysService } from '../../management-keys/management-keys.service.js';
import { InvitationsRepository } from '../invitations/invitations.repository.js';
import { requireMayChange, requireMayChangeAny, requireOwnerLeft, rolesBeyond } from '../organization.rules.js';
import { type MemberRow, OrganizationsRepository } from '../organizations.repository.js';

/** Lists and removes members of an organization, and changes their roles. */
@Injectable()
export class Members {
  constructor(
    private readonly dataSource: DataSource,
    private readonly organizations: OrganizationsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly keys: ManagementKeysService,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** In the order of joining, including service identities. */
  list({ organizationId }: AdminPrincipal): Promise<readonly MemberRow[]> {
    return this.organizations.listMembers(organizationId);
  }

  /**
   * Changes the role of a member, effective from the next request on. Pending invitations beyond the new role are
   * revoked.
   *
   * @throws not_found no such member; forbidden, last_owner as the rules.
   */
  setRole(admin: AdminPrincipal, memberId: string, role: Role): Promise<MemberRow> {
    return this.dataSource.transaction(async (tx) => {
      const member = await this.requireChangeable(tx, admin, memberId, role);
      if (member.role === role) return member;
      await this.organizations.setRole(tx, admin.organizationId, memberId, role);
      await this.revokePendingInvitations(tx, admin, memberId, role);
      await this.trail.record(tx, admin, {
        action: 'member.role_changed',
        targetType: 'member',
        targetId: memberId,
        details: { from: member.role, to: role },
        changes: auditedChanges({ role: member.role }, { role }, ['role']),
      });
      return { ...member, role };
    });
  }

  /**
   * Ends a membership, and revokes permanently the person's keys in this organization and their pending invitations.
   * Their sessions switch to another of their organizations at the next request.
   *
   * @throws as `setRole`.
   * Source: docs/reference/management-api.md#management-keys, docs/reference/security.md#revocation.
   */
  remove(admin: AdminPrincipal, memberId: string): Promise<void> {
    return this.dataSource.transaction(async (tx) => {
      const member = await this.requireChangeable(tx, admin, memberId, null);
      await this.organizations.deleteMember(tx, admin.organizationId, memberId);
      await this.keys.revokeAllOf(tx, { organizationId: admin.organizationId, identityId: memberId });
      await this.revokePendingInvitations(tx, admin, memberId, null);
      await this.trail.record(tx, admin, {
        action: 'member.removed',
        targetType: 'member',
        targetId: memberId,
        details: { role: member.role },
      });
    });
  }

  /**
   * The member to change, after the permission check. The membership lock is held until the transaction ends, so the
   * second of two concurrent changes is checked against the result of the first.
   */
  private async requireChangeable(
    tx: EntityManager,
    { organizationId, identityId }: AdminPrincipal,
    memberId: string,
    to: Role | null,
  ): Promise<MemberRow> {
    await this.organizations.lock(tx, organizationId);
    const actor = await this.organizations.findMember(tx, organizationId, identityId);
    if (actor === undefined) throw new GatewayError('not_found');
    const change = { actorRole: actor.role, isSelf: memberId === identityId, to };
    requireMayChangeAny(change);
    const member = await this.organizations.findMember(tx, organizationId, memberId);
    if (member === undefined) throw new GatewayError('not_found');
    requireMayChange({ ...change, from: member.role });
    requireOwnerLeft(member, to, await this.organizations.countOwners(tx, organizationId));
    return member;
  }

  /** Prevents a removed or demoted member from regaining or granting a role through an earlier invitation. */
  private async revokePendingInvitations(
    tx: EntityManager,
    { organizationId }: AdminPrincipal,
    invitedBy: string,
    own: Role | null,
  ): Promise<void> {
    const roles = rolesBeyond(own);
    await this.invitations.revokePendingOf(tx, { organizationId, invitedBy, roles }, this.clock.now());
  }
}
