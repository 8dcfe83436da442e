import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { IdentityEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';
import { PasswordEntity } from '../credential.entity.js';

/** A password hash (PHC format) and its owner. */
export type StoredPassword = Pick<PasswordEntity, 'identityId' | 'passwordHash'>;

/** The table passwords. */
@Injectable()
export class PasswordsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param email as `comparableEmail` writes it. */
  async findByEmail(email: string): Promise<StoredPassword | undefined> {
    const password = await this.dataSource
      .createQueryBuilder(PasswordEntity, 'p')
      .innerJoin(IdentityEntity, 'i', 'i.id = p.identityId')
      .where('lower(i.email) = lower(:email)', { email })
      .getOne();
    return password ?? undefined;
  }

  async insert(tx: EntityManager, { identityId, passwordHash }: StoredPassword, at: Instant): Promise<void> {
    await tx.insert(PasswordEntity, { identityId, passwordHash, changedAt: at });
  }

  /** Stores or replaces the password of a person. */
  async set(tx: EntityManager, { identityId, passwordHash }: StoredPassword, at: Instant): Promise<void> {
    await tx.upsert(PasswordEntity, { identityId, passwordHash, changedAt: at }, ['identityId']);
  }

  /** Whether the hash is still stored. If so, the row stays locked against changes until the transaction ends. */
  async lockUnchanged(tx: EntityManager, { identityId, passwordHash }: StoredPassword): Promise<boolean> {
    const lock = { mode: 'pessimistic_read' } as const;
    return (await tx.findOne(PasswordEntity, { where: { identityId, passwordHash }, lock })) !== null;
  }

  /** Replaces the hash if it is still stored. @returns whether it was. */
  async replace(
    tx: EntityManager,
    { identityId, passwordHash }: StoredPassword,
    newHash: string,
    at: Instant,
  ): Promise<boolean> {
    const change = { passwordHash: newHash, changedAt: at };
    return (await tx.update(PasswordEntity, { identityId, passwordHash }, change)).affected === 1;
  }
}
