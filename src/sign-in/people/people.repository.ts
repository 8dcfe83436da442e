import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { IdentityEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';
import { lockName } from '../../platform/database/advisory-lock.js';

/** A person that can sign in, as they see themselves. */
export interface PersonRow {
  readonly id: string;
  readonly name: string | null;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly image: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** Changes of a profile; absent fields stay as they are. */
export interface PersonChanges {
  readonly name?: string;
  /** Null removes it. */
  readonly image?: string | null;
}

/** The people in the table identities; `accounts` stores the service identities. */
@Injectable()
export class PeopleRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Serializes sign-ups of the first person until this transaction ends. @throws rate_limited as `lockName`. */
  async lockSignUp(tx: EntityManager): Promise<void> {
    await lockName(tx, 'sign-up');
  }

  hasAny(within: EntityManager = this.dataSource.manager): Promise<boolean> {
    return within.existsBy(IdentityEntity, { kind: 'human' });
  }

  async find(id: string, within: EntityManager = this.dataSource.manager): Promise<PersonRow | undefined> {
    const identity = await within.findOneBy(IdentityEntity, { id, kind: 'human' });
    if (identity === null || identity.email === null) return undefined;
    const { name, email, emailVerified, image, createdAt, updatedAt } = identity;
    return { id, name, email, emailVerified, image, createdAt, updatedAt: updatedAt ?? createdAt };
  }

  /** @param mode a new membership, which refers to the person, waits for `pessimistic_write` alone. */
  async lock(
    tx: EntityManager,
    id: string,
    mode: 'for_no_key_update' | 'pessimistic_write' = 'for_no_key_update',
  ): Promise<void> {
    await tx.findOne(IdentityEntity, { where: { id }, lock: { mode } });
  }

  /** @throws QueryFailedError the e-mail address is taken: constraint `identities_email_key`. */
  async insert(tx: EntityManager, person: PersonRow): Promise<void> {
    await tx.insert(IdentityEntity, { ...person, kind: 'human' });
  }

  async update(id: string, { name, image }: PersonChanges, at: Instant): Promise<void> {
    await this.dataSource.manager.update(IdentityEntity, { id }, { name, image, updatedAt: at });
  }

  /** The organization of a person without an organization cookie: joined first; expired ones come last. */
  async findHome(tx: EntityManager, identityId: string, at: Instant): Promise<string | undefined> {
    const [row] = await tx.query<{ organizationId: string }[]>(
      `SELECT m.organization_id AS "organizationId"
         FROM memberships m JOIN organizations o ON o.id = m.organization_id
        WHERE m.identity_id = $1
        ORDER BY coalesce(o.expires_at <= $2, false), m.joined_at, o.id
        LIMIT 1`,
      [identityId, at],
    );
    return row?.organizationId;
  }
}
