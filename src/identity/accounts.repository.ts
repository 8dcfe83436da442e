import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DataSource } from 'typeorm';

/** Held until the end of the transaction; per database, and other than the lock of migrations. */
const FIRST_ACCOUNT_LOCK = 5_272_024_002;

/** An account owned by a service identity. */
export interface NewServiceAccount {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly identityId: string;
  readonly identityName: string;
  /** ISO-8601, UTC. */
  readonly createdAt: string;
}

/** The tables organizations, identities and memberships. */
@Injectable()
export class AccountsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Makes everyone else who may open the first account wait until this transaction ends. */
  async lockFirstAccount(tx: EntityManager): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [FIRST_ACCOUNT_LOCK]);
  }

  /** Whether the deployment has an account at all, anyone's. */
  async hasAny(within: Pick<EntityManager, 'query'> = this.dataSource): Promise<boolean> {
    const [row] = await within.query<{ any: boolean }[]>('SELECT EXISTS (SELECT FROM organizations) AS any');
    return row?.any === true;
  }

  /** Inserts an organization and the service identity that owns it. It has no deadline (contract-admin 6.4). */
  async insertServiceAccount(tx: EntityManager, account: NewServiceAccount): Promise<void> {
    const { organizationId, organizationName, identityId, identityName, createdAt } = account;
    await tx.query('INSERT INTO organizations (id, name, created_at) VALUES ($1, $2, $3)', [
      organizationId,
      organizationName,
      createdAt,
    ]);
    await tx.query("INSERT INTO identities (id, kind, name, created_at) VALUES ($1, 'service', $2, $3)", [
      identityId,
      identityName,
      createdAt,
    ]);
    await tx.query(
      "INSERT INTO memberships (organization_id, identity_id, role, joined_at) VALUES ($1, $2, 'owner', $3)",
      [organizationId, identityId, createdAt],
    );
  }
}
