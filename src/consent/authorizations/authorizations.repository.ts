import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { lockName } from '../../platform/database/advisory-lock.js';
import { AuthorizationEntity } from './authorization.entity.js';

export type AuthorizationRow = Readonly<AuthorizationEntity>;

/** The members of a new authorization; the others are null. */
export type NewAuthorization = Omit<
  AuthorizationRow,
  'state' | 'connectionId' | 'organizationId' | 'identityId' | 'codeUsedAt'
>;

/** The table oauth_authorizations. */
@Injectable()
export class AuthorizationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(id: string): Promise<AuthorizationRow | undefined> {
    return (await this.dataSource.manager.findOneBy(AuthorizationEntity, { id })) ?? undefined;
  }

  /** As `find`; concurrent callers wait until this transaction ends. */
  async lock(tx: EntityManager, id: string): Promise<AuthorizationRow | undefined> {
    const where = { id };
    return (await tx.findOne(AuthorizationEntity, { where, lock: { mode: 'for_no_key_update' } })) ?? undefined;
  }

  /** Stores a pending authorization. @returns the number of pending ones of its address at `createdAt`, with it. */
  async insert(tx: EntityManager, authorization: NewAuthorization): Promise<number> {
    const { address, createdAt } = authorization;
    await lockName(tx, `oauth authorization of ${address}`);
    await tx.insert(AuthorizationEntity, { ...authorization, state: 'pending' });
    return tx.countBy(AuthorizationEntity, { address, state: 'pending', expiresAt: MoreThan(createdAt) });
  }

  /** Changes an authorization that the transaction has locked. */
  async update(tx: EntityManager, id: string, change: Partial<Omit<AuthorizationRow, 'client'>>): Promise<void> {
    await tx.update(AuthorizationEntity, { id }, change);
  }

  /** Whether the connection of a completed authorization is in force at `at`. */
  async isConnected(connectionId: string, at: Instant): Promise<boolean> {
    const [row] = await this.dataSource.query<{ connected: boolean }[]>(
      `SELECT EXISTS (
         SELECT FROM management_keys connection
          WHERE connection.id = $1 AND connection.revoked_at IS NULL AND connection.expires_at > $2) AS connected`,
      [connectionId, at],
    );
    return row?.connected === true;
  }
}
