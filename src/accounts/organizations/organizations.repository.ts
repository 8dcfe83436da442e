import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Not, type SelectQueryBuilder } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../access/admin-principal.js';
import { IdentityEntity, MembershipEntity, OrganizationEntity } from '../access/organization.entity.js';

/** An organization as its members see it. Source: docs/reference/management-api.md#organizations-and-members. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Instant;
  /** Whether a person owns it. */
  readonly claimed: boolean;
  /** Null: it does not expire. */
  readonly expiresAt: Instant | null;
}

/** The membership of an identity in one organization. */
export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
  readonly joinedAt: Instant;
}

/** A person or service identity, as it sees itself. */
export interface SignedInUser {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly kind: 'human' | 'service';
  readonly emailVerified: boolean;
  readonly image: string | null;
  readonly createdAt: Instant;
}

/** A member as other members see it. */
export interface MemberRow {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly kind: 'human' | 'service';
  readonly role: Role;
  readonly joinedAt: Instant;
}

const ORGANIZATION_COLUMNS = `o.id, o.name, o.created_at AS "createdAt", o.expires_at AS "expiresAt", EXISTS (
  SELECT FROM memberships owner JOIN identities person ON person.id = owner.identity_id
   WHERE owner.organization_id = o.id AND owner.role = 'owner' AND person.kind = 'human') AS claimed`;

/** The tables organizations and memberships, and the identities in them. */
@Injectable()
export class OrganizationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Serializes membership changes of the organization until this transaction ends. Foreign-key references to it do not
   * wait.
   */
  async lock(tx: EntityManager, id: string): Promise<void> {
    await tx.findOne(OrganizationEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  async find(tx: EntityManager, id: string): Promise<Organization | undefined> {
    const sql = `SELECT ${ORGANIZATION_COLUMNS} FROM organizations o WHERE o.id = $1`;
    const [organization] = await tx.query<Organization[]>(sql, [id]);
    return organization;
  }

  /** The organization must exist. */
  async rename(tx: EntityManager, id: string, name: string): Promise<void> {
    await tx.update(OrganizationEntity, { id }, { name });
  }

  /** Removes the expiry of an organization. */
  async clearExpiry(tx: EntityManager, id: string): Promise<void> {
    await tx.update(OrganizationEntity, { id }, { expiresAt: null });
  }

  /** All memberships of an identity, or the one in `organizationId`; oldest organization first. */
  async membershipsOf(
    identityId: string,
    organizationId: string | null = null,
    within: EntityManager = this.dataSource.manager,
  ): Promise<Membership[]> {
    const rows = await within.query<(Organization & Omit<Membership, 'organization'>)[]>(
      `SELECT ${ORGANIZATION_COLUMNS}, m.role, m.joined_at AS "joinedAt"
         FROM memberships m JOIN organizations o ON o.id = m.organization_id
        WHERE m.identity_id = $1 AND ($2::text IS NULL OR o.id = $2)
        ORDER BY o.created_at, o.id`,
      [identityId, organizationId],
    );
    return rows.map(({ role, joinedAt, ...organization }) => ({ organization, role, joinedAt }));
  }

  /**
   * Whether an identity is a member of another organization. It can join none until the transaction ends.
   *
   * @param identityId of a stored identity.
   */
  async belongsElsewhere(tx: EntityManager, identityId: string, organizationId: string): Promise<boolean> {
    await tx.findOne(IdentityEntity, { where: { id: identityId }, lock: { mode: 'pessimistic_write' } });
    return tx.existsBy(MembershipEntity, { identityId, organizationId: Not(organizationId) });
  }

  /** The number of organizations that an identity owns. Concurrent callers wait until the transaction ends. */
  async countOwnedBy(tx: EntityManager, identityId: string): Promise<number> {
    await tx.findOne(IdentityEntity, { where: { id: identityId }, lock: { mode: 'for_no_key_update' } });
    return tx.countBy(MembershipEntity, { identityId, role: 'owner' });
  }

  async findUser(id: string): Promise<SignedInUser | undefined> {
    const identity = await this.dataSource.manager.findOneBy(IdentityEntity, { id });
    if (identity === null) return undefined;
    const { name, email, kind, emailVerified, image, createdAt } = identity;
    return { id, name, email, kind, emailVerified, image, createdAt };
  }

  /** The members of an organization, in the order of joining. */
  listMembers(organizationId: string): Promise<MemberRow[]> {
    const members = this.selectMembers(this.dataSource.manager, organizationId);
    return members.orderBy('m.joinedAt').addOrderBy('i.id').getRawMany<MemberRow>();
  }

  findMember(tx: EntityManager, organizationId: string, identityId: string): Promise<MemberRow | undefined> {
    return this.selectMembers(tx, organizationId).andWhere({ identityId }).getRawOne<MemberRow>();
  }

  /** The number of human owners of an organization. */
  countOwners(tx: EntityManager, organizationId: string): Promise<number> {
    const owners = this.selectMembers(tx, organizationId).andWhere({ role: 'owner' });
    return owners.andWhere("i.kind = 'human'").getCount();
  }

  async insertMember(tx: EntityManager, membership: MembershipEntity): Promise<void> {
    await tx.insert(MembershipEntity, membership);
  }

  async setRole(tx: EntityManager, organizationId: string, identityId: string, role: Role): Promise<void> {
    await tx.update(MembershipEntity, { organizationId, identityId }, { role });
  }

  async deleteMember(tx: EntityManager, organizationId: string, identityId: string): Promise<void> {
    await tx.delete(MembershipEntity, { organizationId, identityId });
  }

  private selectMembers(within: EntityManager, organizationId: string): SelectQueryBuilder<MembershipEntity> {
    return within
      .createQueryBuilder(MembershipEntity, 'm')
      .innerJoin(IdentityEntity, 'i', 'i.id = m.identityId')
      .select(['i.id AS id', 'i.name AS name', 'i.email AS email', 'i.kind AS kind', 'm.role AS role'])
      .addSelect('m.joinedAt', 'joinedAt')
      .where({ organizationId });
  }
}
