import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, MoreThan } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../../identity/admin-principal.js';
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

const COLUMNS = `i.id, i.organization_id AS "organizationId", i.role, i.email, i.invited_by AS "invitedBy",
  i.created_at AS "createdAt", i.expires_at AS "expiresAt", i.accepted_at AS "acceptedAt",
  i.accepted_by AS "acceptedBy", i.revoked_at AS "revokedAt"`;

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

  /** The invitation of a token; the token determines the account. `undefined` for an expired account. */
  async findByToken(
    tokenHash: string,
    at: Instant,
    within: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<InvitationToOrganization | undefined> {
    const [row] = await within.query<InvitationToOrganization[]>(
      `SELECT ${COLUMNS}, o.name AS "organizationName"
         FROM invitations i JOIN organizations o ON o.id = i.organization_id
        WHERE i.token_hash = $1 AND (o.expires_at IS NULL OR o.expires_at > $2)`,
      [tokenHash, at],
    );
    return row;
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
  async revokeOffersOf(
    tx: EntityManager,
    { organizationId, invitedBy, roles }: Pick<InvitationRow, 'organizationId' | 'invitedBy'> & { roles: Role[] },
    at: Instant,
  ): Promise<number> {
    const offers = { organizationId, invitedBy, role: In(roles), ...pendingAt(at) };
    return (await tx.update(InvitationEntity, offers, { revokedAt: at })).affected ?? 0;
  }
}

const pendingAt = (at: Instant) => ({ acceptedAt: IsNull(), revokedAt: IsNull(), expiresAt: MoreThan(at) });
