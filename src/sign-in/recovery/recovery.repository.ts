import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { Role } from '../../accounts/access/admin-principal.js';
import { IdentityEntity, MembershipEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';
import { PasswordEntity } from '../credential.entity.js';
import { PasswordResetEntity, RecoveryCodeEntity } from './recovery.entity.js';

export type StoredCode = Readonly<RecoveryCodeEntity>;
export type PasswordReset = Readonly<PasswordResetEntity>;

/** A person whose password may be reset. */
export interface ResettablePerson {
  readonly kind: 'human' | 'service';
  readonly hasPassword: boolean;
}

/** The tables recovery_codes and password_resets. */
@Injectable()
export class RecoveryRepository {
  constructor(private readonly dataSource: DataSource) {}

  countCodes(identityId: string): Promise<number> {
    return this.dataSource.manager.countBy(RecoveryCodeEntity, { identityId });
  }

  /** @param email as `comparableEmail` writes it. */
  async findCode(email: string, position: number): Promise<StoredCode | undefined> {
    const code = await this.dataSource
      .createQueryBuilder(RecoveryCodeEntity, 'c')
      .innerJoin(IdentityEntity, 'i', 'i.id = c.identityId')
      .where('lower(i.email) = lower(:email) AND c.position = :position', { email, position })
      .getOne();
    return code ?? undefined;
  }

  /** Deletes a code. @returns whether it was still stored: of concurrent uses one finds it. */
  async takeCode(tx: EntityManager, { identityId, position, codeHash }: StoredCode): Promise<boolean> {
    return (await tx.delete(RecoveryCodeEntity, { identityId, position, codeHash })).affected === 1;
  }

  async replaceCodes(tx: EntityManager, identityId: string, codes: readonly StoredCode[]): Promise<void> {
    await tx.delete(RecoveryCodeEntity, { identityId });
    await tx.insert(RecoveryCodeEntity, [...codes]);
  }

  /** A member of an organization; `undefined` when there is none. */
  async findMember(
    tx: EntityManager,
    organizationId: string,
    identityId: string,
  ): Promise<ResettablePerson | undefined> {
    if (!(await tx.existsBy(MembershipEntity, { organizationId, identityId }))) return undefined;
    const { kind } = await tx.findOneByOrFail(IdentityEntity, { id: identityId });
    return { kind, hasPassword: await tx.existsBy(PasswordEntity, { identityId }) };
  }

  /** The organizations of a person, each with the role that an issuer has there now. */
  rolesOfIssuer(
    tx: EntityManager,
    identityId: string,
    issuerId: string,
  ): Promise<{ readonly organizationId: string; readonly role: Role | null }[]> {
    return tx.query(
      `SELECT m.organization_id AS "organizationId", issuer.role
         FROM memberships m
         LEFT JOIN memberships issuer ON issuer.organization_id = m.organization_id AND issuer.identity_id = $2
        WHERE m.identity_id = $1`,
      [identityId, issuerId],
    );
  }

  /** Replaces the link of a person. */
  async replaceReset(tx: EntityManager, reset: PasswordReset): Promise<void> {
    await tx.delete(PasswordResetEntity, { identityId: reset.identityId });
    await tx.insert(PasswordResetEntity, reset);
  }

  /** A link that is in force at `at`. */
  async findReset(tx: EntityManager, tokenHash: string, at: Instant): Promise<PasswordReset | undefined> {
    return (await tx.findOneBy(PasswordResetEntity, { tokenHash, expiresAt: MoreThan(at) })) ?? undefined;
  }

  /** Deletes a link. @returns whether it was still stored: of concurrent uses one finds it. */
  async takeReset(tx: EntityManager, tokenHash: string): Promise<boolean> {
    return (await tx.delete(PasswordResetEntity, { tokenHash })).affected === 1;
  }
}
