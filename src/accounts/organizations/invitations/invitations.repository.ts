import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, MoreThan, Or } from 'typeorm';
import type { Instant } from '../../../common/clock.js';
import type { Role } from '../../access/admin-principal.js';
import { OrganizationEntity } from '../../access/organization.entity.js';
import { InvitationEntity } from './invitation.entity.js';

/** A stored invitation, without its token. */
export interface InvitationRow {
  readonly id: string;
  readonly organizationId: string;
  readonly role: Role;
  readonly email: string | null;
  readonly invitedBy: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly acceptedAt: Instant | null;
  readonly acceptedBy: string | null;
  readonly revokedAt: Instant | null;
}

/** An invitation with the name of its organization. */
export interface InvitationToOrganization extends InvitationRow {
  readonly organizationName: string;
}

/** Everything except the hash of the token. */
const SHOWN = {
  ...{ id: true, organizationId: true, role: true, email: true, invitedBy: true },
  ...{ createdAt: true, expiresAt: true, acceptedAt: true, acceptedBy: true, revokedAt: true },
} as const;

/** The table invitations. */
@Injectable()
export class InvitationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: EntityManager, invitation: InvitationRow, tokenHash: string): Promise<void> {
    await tx.insert(InvitationEntity, { ...invitation, tokenHash });
  }

  /** The number of pending invitations of an organization at `at`. */
  countPending(tx: EntityManager, organizationId: string, at: Instant): Promise<number> {
    return tx.countBy(InvitationEntity, { organizationId, ...pendingAt(at) });
  }

  /** Newest first. */
  listOf(organizationId: string): Promise<InvitationRow[]> {
    return this.dataSource.manager.find(InvitationEntity, {
      select: SHOWN,
      where: { organizationId },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
  }

  async find(tx: EntityManager, organizationId: string, id: string): Promise<InvitationRow | undefined> {
    return (await tx.findOne(InvitationEntity, { select: SHOWN, where: { organizationId, id } })) ?? undefined;
  }

  /** The invitation of a token; the token determines the organization. `undefined` for an expired organization. */
  async findByToken(
    tokenHash: string,
    at: Instant,
    within: EntityManager = this.dataSource.manager,
  ): Promise<InvitationToOrganization | undefined> {
    const invitation = await within.findOne(InvitationEntity, { select: SHOWN, where: { tokenHash } });
    if (invitation === null) return undefined;
    const unexpired = { id: invitation.organizationId, expiresAt: Or(IsNull(), MoreThan(at)) };
    const organization = await within.findOneBy(OrganizationEntity, unexpired);
    return organization === null ? undefined : { ...invitation, organizationName: organization.name };
  }

  async markAccepted(
    tx: EntityManager,
    { organizationId, id }: Pick<InvitationRow, 'organizationId' | 'id'>,
    identityId: string,
    at: Instant,
  ): Promise<void> {
    await tx.update(InvitationEntity, { organizationId, id }, { acceptedAt: at, acceptedBy: identityId });
  }

  async markRevoked(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<void> {
    await tx.update(InvitationEntity, { organizationId, id }, { revokedAt: at });
  }

  /** Revokes the pending invitations of an inviter for certain roles. @returns how many. */
  async revokePendingOf(
    tx: EntityManager,
    { organizationId, invitedBy, roles }: Pick<InvitationRow, 'organizationId' | 'invitedBy'> & { roles: Role[] },
    at: Instant,
  ): Promise<number> {
    const offers = { organizationId, invitedBy, role: In(roles), ...pendingAt(at) };
    return (await tx.update(InvitationEntity, offers, { revokedAt: at })).affected ?? 0;
  }
}

const pendingAt = (at: Instant) => ({ acceptedAt: IsNull(), revokedAt: IsNull(), expiresAt: MoreThan(at) });
