import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { IdentityEntity, MembershipEntity, OrganizationEntity } from './organization.entity.js';

/** An organization and its first owner. The owner is already stored. */
export interface NewOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: Instant;
}

/** New rows in organizations, identities and memberships. */
@Injectable()
export class NewOrganizationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Waits for concurrent creations of organizations. Later ones wait until this transaction ends. */
  async lockOrganizations(tx: EntityManager): Promise<void> {
    await tx.query('LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE');
  }

  /** Whether the deployment has any organization. */
  hasAny(within: EntityManager = this.dataSource.manager): Promise<boolean> {
    return within.exists(OrganizationEntity);
  }

  async insertServiceIdentity(
    tx: EntityManager,
    service: { readonly id: string; readonly name: string; readonly createdAt: Instant },
  ): Promise<void> {
    await tx.insert(IdentityEntity, { ...service, kind: 'service' });
  }

  /** Inserts an organization without an expiry, and the membership of its owner. */
  async insertOrganization(tx: EntityManager, organization: NewOrganization): Promise<void> {
    const { organizationId, name, ownerId, createdAt } = organization;
    await tx.insert(OrganizationEntity, { id: organizationId, name, createdAt });
    await tx.insert(MembershipEntity, { organizationId, identityId: ownerId, role: 'owner', joinedAt: createdAt });
  }
}
