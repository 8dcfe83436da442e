import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { lockName } from '../../platform/database/advisory-lock.js';
import { OpenidSubjectEntity } from '../credential.entity.js';
import type { OpenIdSubject } from '../people/person.rules.js';

/** The table openid_subjects. */
@Injectable()
export class OpenIdSubjectsRepository {
  async findIdentity(tx: EntityManager, { issuer, subject }: OpenIdSubject): Promise<string | undefined> {
    return (await tx.findOneBy(OpenidSubjectEntity, { issuer, subject }))?.identityId;
  }

  /**
   * As `findIdentity`, under a lock on this subject until the transaction ends: of two concurrent callbacks, one stores
   * the subject.
   */
  async findLatest(tx: EntityManager, subject: OpenIdSubject): Promise<string | undefined> {
    const name = `openid subject ${JSON.stringify([subject.issuer, subject.subject])}`;
    await lockName(tx, name);
    return this.findIdentity(tx, subject);
  }

  async insert(tx: EntityManager, { issuer, subject }: OpenIdSubject, identityId: string, at: Instant): Promise<void> {
    await tx.insert(OpenidSubjectEntity, { issuer, subject, identityId, createdAt: at });
  }
}
