import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { Role } from '../admin-principal.js';

/** A valid session, its person, and the current account. */
export interface SessionRow {
  readonly id: string;
  readonly identity_id: string;
  readonly created_at: Instant;
  readonly renewed_at: Instant;
  readonly expires_at: Instant;
  readonly address: string | null;
  readonly user_agent: string | null;
  /** Null for a person without an organization. */
  readonly organization_id: string | null;
  readonly organization_expires_at: Instant | null;
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

/** The table sessions. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The session of a token that is valid at `at` and ends by `latestEnd`, with the current role. The organization is
   * the requested one if the person belongs to it, otherwise the one joined first; expired organizations come last.
   */
  async findHolder(
    tokenHash: string,
    organizationId: string | null,
    { at, latestEnd }: { readonly at: Instant; readonly latestEnd: Instant },
  ): Promise<SessionRow | undefined> {
    const [row] = await this.dataSource.query<SessionRow[]>(
      `SELECT s.id, s.identity_id, s.created_at, s.renewed_at, s.expires_at, s.address, s.user_agent,
              m.organization_id, m.organization_expires_at, m.role
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

  async insert(within: Pick<EntityManager, 'query'>, session: NewSession): Promise<void> {
    const { id, identityId, tokenHash, address, userAgent, createdAt, expiresAt } = session;
    await within.query(
      `INSERT INTO sessions (id, identity_id, token_hash, address, user_agent, created_at, renewed_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`,
      [id, identityId, tokenHash, address, userAgent, createdAt, expiresAt],
    );
  }

  /** Extends a session that has not ended until `expiresAt`. */
  async renew(id: string, at: Instant, expiresAt: Instant): Promise<void> {
    await this.dataSource.query(
      'UPDATE sessions SET renewed_at = $2, expires_at = $3 WHERE id = $1 AND expires_at > $2 AND renewed_at < $2',
      [id, at, expiresAt],
    );
  }

  /** Deletes a session. Repeating it changes nothing. @returns whether the session existed. */
  async delete(within: Pick<EntityManager, 'query'>, id: string): Promise<boolean> {
    const [, count]: [unknown[], number] = await within.query('DELETE FROM sessions WHERE id = $1', [id]);
    return count > 0;
  }

  /** Deletes every other session of a person. */
  async deleteOthers(within: Pick<EntityManager, 'query'>, identityId: string, keptId: string): Promise<void> {
    await within.query('DELETE FROM sessions WHERE identity_id = $1 AND id <> $2', [identityId, keptId]);
  }
}
