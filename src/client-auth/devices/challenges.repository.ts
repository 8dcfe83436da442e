import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import type { Instant } from '../../common/clock.js';

/** Lifetime of a challenge. Source: docs/reference/application-api.md#end-user-header. */
export const CHALLENGE_LIFETIME_SECONDS = 300;

/** A challenge that has not expired, and was not issued while the database clock was ahead (ADR 0014). */
export const CHALLENGE_IN_FORCE = `expires_at > now()
  AND expires_at <= now() + interval '${CHALLENGE_LIFETIME_SECONDS} seconds' + interval '1 minute'`;

/** Deletes at most `$1` expired challenges, of any application. */
export const DELETE_EXPIRED_CHALLENGES = `
  DELETE FROM auth_challenges WHERE challenge IN (
    SELECT challenge FROM auth_challenges WHERE expires_at <= now() ORDER BY expires_at LIMIT $1
    FOR UPDATE SKIP LOCKED)`;

/**
 * Challenges in `auth_challenges`. All expiries use the database clock, so that instances with different clocks agree.
 */
@Injectable()
export class ChallengesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @returns false when the application was deleted. */
  async insert(app: AppRef, challenge: string, lifetimeSeconds: number): Promise<boolean> {
    const inserted: unknown[] = await this.dataSource.query(
      `INSERT INTO auth_challenges (challenge, app_id, expires_at)
       SELECT $3, app.id, now() + $4 * interval '1 second'
       FROM apps app WHERE app.organization_id = $1 AND app.id = $2 FOR KEY SHARE
       RETURNING challenge`,
      [app.organizationId, app.id, challenge, lifetimeSeconds],
    );
    return inserted.length > 0;
  }

  /**
   * Deletes a valid challenge of this application.
   *
   * @returns the time of the deletion, by the database clock, to exactly one caller; `undefined` to all others.
   */
  async take(app: AppRef, challenge: string): Promise<Instant | undefined> {
    const [rows]: [{ takenAt: Instant }[], number] = await this.dataSource.query(
      `DELETE FROM auth_challenges WHERE challenge = $1 AND app_id = $2 AND ${CHALLENGE_IN_FORCE}
       RETURNING now() AS "takenAt"`,
      [challenge, app.id],
    );
    return rows[0]?.takenAt;
  }

  /**
   * Deletes expired challenges, of any application.
   *
   * @returns the number of deleted rows, at most `limit`.
   */
  async deleteExpired(limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await this.dataSource.query(DELETE_EXPIRED_CHALLENGES, [limit]);
    return count;
  }
}
