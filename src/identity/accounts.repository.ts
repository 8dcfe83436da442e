import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DataSource } from 'typeorm';
import type { Instant } from '../common/clock.js';

/** An organization and its first owner. The owner is already stored. */
export interface NewOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: Instant;
}

/** The tables organizations, identities and memberships. */
@Injectable()
export class AccountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Waits for concurrent account creations. Later ones wait until this transaction ends. */
  async lockAccounts(tx: EntityManager): Promise<void> {
    await tx.query('LOCK TABLE organizations IN SHARE ROW EXCLUSIVE MODE');
  }

  /** Whether the deployment has any account. */
  async hasAny(within: Pick<EntityManager, 'query'> = this.dataSource): Promise<boolean> {
    const [row] = await within.query<{ any: boolean }[]>('SELECT EXISTS (SELECT FROM organizations) AS any');
    return row?.any === true;
  }

  async insertServiceIdentity(
    tx: EntityManager,
    service: { readonly id: string; readonly name: string; readonly createdAt: Instant },
  ): Promise<void> {
    await tx.query("INSERT INTO identities (id, kind, name, created_at) VALUES ($1, 'service', $2, $3)", [
      service.id,
      service.name,
      service.createdAt,
    ]);
  }

  /** Inserts an organization without an expiry, and the membership of its owner. */
  async insertOrganization(tx: EntityManager, organization: NewOrganization): Promise<void> {
    const { organizationId, name, ownerId, createdAt } = organization;
    await tx.query('INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3)', [
      organizationId,
      name,
      createdAt,
    ]);
    await tx.query(
      "INSERT INTO memberships (organization_id, identity_id, role, joined_at) VALUES ($1, $2, 'owner', $3)",
      [organizationId, ownerId, createdAt],
    );
  }
}
