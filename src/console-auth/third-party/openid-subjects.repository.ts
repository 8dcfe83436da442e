import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { OpenIdSubject } from './third-party-person.rules.js';

/** The table openid_subjects. */
@Injectable()
export class OpenIdSubjectsRepository {
  async findIdentity(tx: EntityManager, { issuer, subject }: OpenIdSubject): Promise<string | undefined> {
    const [row] = await tx.query<{ identityId: string }[]>(
      'SELECT identity_id AS "identityId" FROM openid_subjects WHERE issuer = $1 AND subject = $2',
      [issuer, subject],
    );
    return row?.identityId;
  }

  /**
   * As `findIdentity`, under a lock on this subject until the transaction ends: of two concurrent callbacks, one stores
   * the subject.
   */
  async findLatest(tx: EntityManager, subject: OpenIdSubject): Promise<string | undefined> {
    const name = `openid subject ${JSON.stringify([subject.issuer, subject.subject])}`;
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    return this.findIdentity(tx, subject);
  }

  async insert(tx: EntityManager, { issuer, subject }: OpenIdSubject, identityId: string, at: Instant): Promise<void> {
    await tx.query('INSERT INTO openid_subjects (issuer, subject, identity_id, created_at) VALUES ($1, $2, $3, $4)', [
      issuer,
      subject,
      identityId,
      at,
    ]);
  }
}
