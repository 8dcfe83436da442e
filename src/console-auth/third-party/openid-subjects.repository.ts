import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** Somebody as an OpenID provider knows them; the subject is unique there alone. */
export interface OpenIdSubject {
  readonly provider: string;
  readonly subject: string;
}

/** The table openid_subjects. */
@Injectable()
export class OpenIdSubjectsRepository {
  async findIdentity(tx: EntityManager, { provider, subject }: OpenIdSubject): Promise<string | undefined> {
    const [row] = await tx.query<{ identityId: string }[]>(
      'SELECT identity_id AS "identityId" FROM openid_subjects WHERE provider = $1 AND subject = $2',
      [provider, subject],
    );
    return row?.identityId;
  }

  async insert(
    tx: EntityManager,
    { provider, subject }: OpenIdSubject,
    identityId: string,
    at: Instant,
  ): Promise<void> {
    await tx.query('INSERT INTO openid_subjects (provider, subject, identity_id, created_at) VALUES ($1, $2, $3, $4)', [
      provider,
      subject,
      identityId,
      at,
    ]);
  }
}
