import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, LessThan, MoreThan, Not } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../access/admin-principal.js';
import { SessionEntity } from './session.entity.js';

/** A valid session, its person, and the current organization. */
export interface SessionRow {
  readonly id: string;
  readonly identityId: string;
  readonly createdAt: Instant;
  readonly renewedAt: Instant;
  readonly expiresAt: Instant;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** Null for a person without an organization. */
  readonly organizationId: string | null;
  readonly organizationExpiresAt: Instant | null;
  readonly role: Role | null;
}

/** A session to store, without its token. */
export interface NewSession {
  readonly id: string;
  readonly identityId: string;
  /** SHA-256 of the token, hexadecimal. */
  readonly tokenHash: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

/** A session as its person sees it. */
export type OwnSessionRow = Pick<
  SessionEntity,
  'id' | 'address' | 'userAgent' | 'createdAt' | 'renewedAt' | 'expiresAt'
>;

/** The table sessions. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The session of a token that is valid at `at` and ends by `latestEnd`, with the current role. The organization is
   * the requested one if the person belongs to it, otherwise the one joined first; expired organizations come last.
   */
  async findValid(
    tokenHash: string,
    organizationId: string | null,
    { at, latestEnd }: { readonly at: Instant; readonly latestEnd: Instant },
  ): Promise<SessionRow | undefined> {
    const [row] = await this.dataSource.query<SessionRow[]>(
      `SELECT s.id, s.identity_id AS "identityId", s.created_at AS "createdAt", s.renewed_at AS "renewedAt",
              s.expires_at AS "expiresAt", s.address, s.user_agent AS "userAgent",
              m.organization_id AS "organizationId", m.organization_expires_at AS "organizationExpiresAt", m.role
         FROM sessions s
         LEFT JOIN LATERAL (
           SELECT m.organization_id, o.expires_at AS organization_expires_at, m.role
             FROM memberships m JOIN organizations o ON o.id = m.organization_id
            WHERE m.identity_id = s.identity_id
            ORDER BY coalesce(o.expires_at <= $3, false), (m.organization_id = $2) IS TRUE DESC, m.joined_at, o.id
            LIMIT 1) m ON true
        WHERE s.token_hash = $1 AND s.expires_at > $3 AND s.expires_at <= $4`,
      [tokenHash, organizationId, at, latestEnd],
    );
    return row;
  }

  async insert(tx: EntityManager, session: NewSession): Promise<void> {
    await tx.insert(SessionEntity, { ...session, renewedAt: session.createdAt });
  }

  /** Extends a session that has not ended until `expiresAt`. */
  async renew(id: string, at: Instant, expiresAt: Instant): Promise<void> {
    const unrenewed = { id, expiresAt: MoreThan(at), renewedAt: LessThan(at) };
    await this.dataSource.manager.update(SessionEntity, unrenewed, { renewedAt: at, expiresAt });
  }

  /** Deletes a session. Repeating it changes nothing. @returns whether the session existed. */
  async delete(tx: EntityManager, id: string): Promise<boolean> {
    return (await tx.delete(SessionEntity, { id })).affected === 1;
  }

  /** The sessions of a person that are valid at `at`, the latest extended first. */
  listValid(identityId: string, at: Instant): Promise<OwnSessionRow[]> {
    return this.dataSource.manager.find(SessionEntity, {
      select: { id: true, address: true, userAgent: true, createdAt: true, renewedAt: true, expiresAt: true },
      where: { identityId, expiresAt: MoreThan(at) },
      order: { renewedAt: 'DESC', id: 'ASC' },
    });
  }

  /** Deletes the session of this id, or every one, of a person. @returns ids of those that existed. */
  async deleteOwn(tx: EntityManager, identityId: string, id?: string): Promise<readonly string[]> {
    const deleting = tx
      .createQueryBuilder()
      .delete()
      .from(SessionEntity)
      .where({ identityId, ...(id && { id }) });
    const { raw }: { raw: readonly { readonly id: string }[] } = await deleting.returning('id').execute();
    return raw.map((row) => row.id);
  }

  /** Deletes every other session of a person. */
  async deleteOthers(tx: EntityManager, identityId: string, keptId: string): Promise<void> {
    await tx.delete(SessionEntity, { identityId, id: Not(keptId) });
  }
}
