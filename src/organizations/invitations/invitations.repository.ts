import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../../identity/admin-principal.js';

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

const COLUMNS = `i.id, i.organization_id AS "organizationId", i.role, i.email, i.invited_by AS "invitedBy",
  i.created_at AS "createdAt", i.expires_at AS "expiresAt", i.accepted_at AS "acceptedAt",
  i.accepted_by AS "acceptedBy", i.revoked_at AS "revokedAt"`;

/** The table invitations. */
@Injectable()
export class InvitationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: EntityManager, invitation: InvitationRow, tokenHash: string): Promise<void> {
    const { id, organizationId, role, email, invitedBy, createdAt, expiresAt } = invitation;
    await tx.query(
      `INSERT INTO invitations (id, organization_id, role, email, token_hash, invited_by, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [id, organizationId, role, email, tokenHash, invitedBy, createdAt, expiresAt],
    );
  }

  /** The number of pending invitations of an organization at `at`. */
  async countPending(tx: EntityManager, organizationId: string, at: Instant): Promise<number> {
    const [row] = await tx.query<{ pending: number }[]>(
      `SELECT count(*)::integer AS pending FROM invitations
        WHERE organization_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $2`,
      [organizationId, at],
    );
    return row?.pending ?? 0;
  }

  /** Newest first. */
  listOf(organizationId: string): Promise<InvitationRow[]> {
    return this.dataSource.query(
      `SELECT ${COLUMNS} FROM invitations i WHERE i.organization_id = $1 ORDER BY i.created_at DESC, i.id DESC`,
      [organizationId],
    );
  }

  async find(tx: EntityManager, organizationId: string, id: string): Promise<InvitationRow | undefined> {
    const [row] = await tx.query<InvitationRow[]>(
      `SELECT ${COLUMNS} FROM invitations i WHERE i.organization_id = $1 AND i.id = $2`,
      [organizationId, id],
    );
    return row;
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
    await tx.query('UPDATE invitations SET accepted_at = $4, accepted_by = $3 WHERE organization_id = $1 AND id = $2', [
      organizationId,
      id,
      identityId,
      at,
    ]);
  }

  async markRevoked(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<void> {
    await tx.query('UPDATE invitations SET revoked_at = $3 WHERE organization_id = $1 AND id = $2', [
      organizationId,
      id,
      at,
    ]);
  }

  /** Revokes the pending invitations of an inviter for certain roles. @returns how many. */
  async revokeOffersOf(
    tx: EntityManager,
    { organizationId, invitedBy, roles }: Pick<InvitationRow, 'organizationId' | 'invitedBy'> & { roles: Role[] },
    at: Instant,
  ): Promise<number> {
    const [, count]: [unknown[], number] = await tx.query(
      `UPDATE invitations SET revoked_at = $4
        WHERE organization_id = $1 AND invited_by = $2 AND role = ANY ($3)
          AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > $4`,
      [organizationId, invitedBy, roles, at],
    );
    return count;
  }
}
