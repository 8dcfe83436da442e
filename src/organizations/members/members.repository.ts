import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../../identity/admin-principal.js';

/** A member as other members see it. */
export interface MemberRow {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly kind: 'human' | 'service';
  readonly role: Role;
  readonly joinedAt: Instant;
}

interface NewMembership {
  readonly organizationId: string;
  readonly identityId: string;
  readonly role: Role;
  readonly joinedAt: Instant;
}

const SELECT_MEMBERS = `
  SELECT i.id, i.name, i.email, i.kind, m.role, m.joined_at AS "joinedAt"
    FROM memberships m JOIN identities i ON i.id = m.identity_id
   WHERE m.organization_id = $1`;

/** The memberships of one organization. */
@Injectable()
export class MembersRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Serializes membership changes of the organization until this transaction ends. Foreign-key references to it do not
   * wait.
   *
   * @returns whether the organization exists.
   */
  async lock(tx: EntityManager, organizationId: string): Promise<boolean> {
    const rows: unknown[] = await tx.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [
      organizationId,
    ]);
    return rows.length > 0;
  }

  /** In the order of joining. */
  listOf(organizationId: string): Promise<MemberRow[]> {
    return this.dataSource.query(`${SELECT_MEMBERS} ORDER BY m.joined_at, i.id`, [organizationId]);
  }

  async find(tx: EntityManager, organizationId: string, identityId: string): Promise<MemberRow | undefined> {
    const [row] = await tx.query<MemberRow[]>(`${SELECT_MEMBERS} AND m.identity_id = $2`, [organizationId, identityId]);
    return row;
  }

  /** The number of human owners. */
  async countOwners(within: Pick<EntityManager, 'query'>, organizationId: string): Promise<number> {
    const [row] = await within.query<{ owners: number }[]>(
      `SELECT count(*)::integer AS owners
         FROM memberships m JOIN identities i ON i.id = m.identity_id
        WHERE m.organization_id = $1 AND m.role = 'owner' AND i.kind = 'human'`,
      [organizationId],
    );
    return row?.owners ?? 0;
  }

  async insert(tx: EntityManager, { organizationId, identityId, role, joinedAt }: NewMembership): Promise<void> {
    await tx.query('INSERT INTO memberships (organization_id, identity_id, role, joined_at) VALUES ($1, $2, $3, $4)', [
      organizationId,
      identityId,
      role,
      joinedAt,
    ]);
  }

  async setRole(tx: EntityManager, organizationId: string, identityId: string, role: Role): Promise<void> {
    await tx.query('UPDATE memberships SET role = $3 WHERE organization_id = $1 AND identity_id = $2', [
      organizationId,
      identityId,
      role,
    ]);
  }

  async delete(tx: EntityManager, organizationId: string, identityId: string): Promise<void> {
    await tx.query('DELETE FROM memberships WHERE organization_id = $1 AND identity_id = $2', [
      organizationId,
      identityId,
    ]);
  }
}
