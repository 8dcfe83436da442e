import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { Role } from '../identity/admin-principal.js';
import type { Membership, Organization, SignedInUser } from './organization.js';

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
  readonly claimed: boolean;
}

interface MembershipRow extends OrganizationRow {
  readonly role: Role;
  readonly joined_at: Instant;
}

const ORGANIZATION_COLUMNS = `o.id, o.name, o.created_at, o.expires_at, EXISTS (
  SELECT FROM memberships owner JOIN identities person ON person.id = owner.identity_id
   WHERE owner.organization_id = o.id AND owner.role = 'owner' AND person.kind = 'human') AS claimed`;

/** Queries for organizations and the identities in them. */
@Injectable()
export class OrganizationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(within: Pick<EntityManager, 'query'>, id: string): Promise<Organization | undefined> {
    const [row] = await within.query<OrganizationRow[]>(
      `SELECT ${ORGANIZATION_COLUMNS} FROM organizations o WHERE o.id = $1`,
      [id],
    );
    return row && organizationOf(row);
  }

  /** The organization must exist. */
  async rename(tx: EntityManager, id: string, name: string): Promise<void> {
    await tx.query('UPDATE organizations SET name = $2 WHERE id = $1', [id, name]);
  }

  /** Removes the expiry of an organization. */
  async clearExpiry(tx: EntityManager, id: string): Promise<void> {
    await tx.query('UPDATE organizations SET expires_at = NULL WHERE id = $1', [id]);
  }

  /** All memberships of an identity, or the one in `organizationId`; oldest organization first. */
  async membershipsOf(identityId: string, organizationId: string | null = null): Promise<Membership[]> {
    const rows: MembershipRow[] = await this.dataSource.query(
      `SELECT ${ORGANIZATION_COLUMNS}, m.role, m.joined_at
         FROM memberships m JOIN organizations o ON o.id = m.organization_id
        WHERE m.identity_id = $1 AND ($2::text IS NULL OR o.id = $2)
        ORDER BY o.created_at, o.id`,
      [identityId, organizationId],
    );
    return rows.map((row) => ({ organization: organizationOf(row), role: row.role, joinedAt: row.joined_at }));
  }

  /**
   * Whether an identity is a member of another organization. It can join none until the transaction ends.
   *
   * @param id of a stored identity.
   */
  async belongsElsewhere(tx: EntityManager, id: string, organizationId: string): Promise<boolean> {
    await tx.query('SELECT FROM identities WHERE id = $1 FOR UPDATE', [id]);
    const rows: unknown[] = await tx.query(
      'SELECT FROM memberships WHERE identity_id = $1 AND organization_id <> $2 LIMIT 1',
      [id, organizationId],
    );
    return rows.length > 0;
  }

  /** The number of organizations that an identity owns. Concurrent callers wait until the transaction ends. */
  async countOwnedBy(tx: EntityManager, id: string): Promise<number> {
    await tx.query('SELECT FROM identities WHERE id = $1 FOR NO KEY UPDATE', [id]);
    const [row] = await tx.query<{ owned: number }[]>(
      "SELECT count(*)::integer AS owned FROM memberships WHERE identity_id = $1 AND role = 'owner'",
      [id],
    );
    return row?.owned ?? 0;
  }

  async findUser(id: string): Promise<SignedInUser | undefined> {
    const [row] = await this.dataSource.query<SignedInUser[]>(
      `SELECT id, name, email, kind, email_verified AS "emailVerified", image, created_at AS "createdAt"
         FROM identities WHERE id = $1`,
      [id],
    );
    return row;
  }
}

function organizationOf({ id, name, created_at, expires_at, claimed }: OrganizationRow): Organization {
  return { id, name, createdAt: created_at, claimed, expiresAt: expires_at };
}
