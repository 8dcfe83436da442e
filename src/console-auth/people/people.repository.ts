import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** Advisory lock per database, held until the transaction ends; differs from the migration lock. */
const REGISTRATION_LOCK = 5_272_024_003;

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

const COLUMNS = `i.id, i.name, i.email, i.email_verified AS "emailVerified", i.image, i.created_at AS "createdAt",
  coalesce(i.updated_at, i.created_at) AS "updatedAt"`;

/** The people in the table identities; `identity` stores the service identities. */
@Injectable()
export class PeopleRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Serializes registrations of the first person until this transaction ends. */
  async lockRegistration(tx: EntityManager): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [REGISTRATION_LOCK]);
  }

  async hasAny(within: Pick<EntityManager, 'query'> = this.dataSource): Promise<boolean> {
    const [row] = await within.query<{ any: boolean }[]>(
      "SELECT EXISTS (SELECT FROM identities WHERE kind = 'human') AS any",
    );
    return row?.any === true;
  }

  async find(
    identityId: string,
    within: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<PersonRow | undefined> {
    const [row] = await within.query<PersonRow[]>(
      `SELECT ${COLUMNS} FROM identities i WHERE i.id = $1 AND i.kind = 'human'`,
      [identityId],
    );
    return row;
  }

  /** @throws QueryFailedError the e-mail address is taken: constraint `identities_email_key`. */
  async insert(tx: EntityManager, person: PersonRow): Promise<void> {
    const { id, name, email, emailVerified, image, createdAt, updatedAt } = person;
    await tx.query(
      `INSERT INTO identities (id, kind, name, email, email_verified, image, created_at, updated_at)
       VALUES ($1, 'human', $2, $3, $4, $5, $6, $7)`,
      [id, name, email, emailVerified, image, createdAt, updatedAt],
    );
  }

  async update(identityId: string, { name, image }: PersonChanges, at: Instant): Promise<void> {
    await this.dataSource.query(
      `UPDATE identities SET name = coalesce($2, name), image = CASE WHEN $3 THEN $4 ELSE image END, updated_at = $5
        WHERE id = $1`,
      [identityId, name ?? null, image !== undefined, image ?? null, at],
    );
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
