import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { AppRef } from '../../app-directory/app.entity.js';
import type { Instant } from '../../common/clock.js';

/** Lifetime of a challenge. Source: docs/reference/application-api.md#end-user-header. */
export const CHALLENGE_LIFETIME_SECONDS = 300;

/** A challenge that has not expired, and was not issued while the database clock was ahead (ADR 0014). */
const inForce = (expiresAt: string) => `${expiresAt} > now()
  AND ${expiresAt} <= now() + interval '${CHALLENGE_LIFETIME_SECONDS} seconds' + interval '1 minute'`;
export const CHALLENGE_IN_FORCE = inForce('expires_at');

/** What a key keeps of its pending challenge, or gets of a new one. */
const keptOrNew = (column: string) =>
  `CASE WHEN ${inForce('pending.expires_at')} THEN pending.${column} ELSE excluded.${column} END`;

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
   * Stores a challenge for one key, unless another one of it is in force.
   *
   * @returns that of the key, with whole seconds of its life; `undefined` when the application was deleted.
   */
  async pend(
    app: AppRef,
    keyId: string,
    challenge: string,
    lifetimeSeconds: number,
  ): Promise<{ challenge: string; remainingSeconds: number } | undefined> {
    const [row]: { challenge: string; remainingSeconds: number }[] = await this.dataSource.query(
      `INSERT INTO auth_challenges AS pending (challenge, app_id, key_id, expires_at)
       SELECT $4, app.id, $3, now() + $5 * interval '1 second'
       FROM apps app WHERE app.organization_id = $1 AND app.id = $2 FOR KEY SHARE
       ON CONFLICT (app_id, key_id) DO UPDATE
         SET challenge = ${keptOrNew('challenge')}, expires_at = ${keptOrNew('expires_at')}
       RETURNING challenge, greatest(1, floor(extract(epoch FROM expires_at - now())))::integer AS "remainingSeconds"`,
      [app.organizationId, app.id, keyId, challenge, lifetimeSeconds],
    );
    return row;
  }

  /** The challenge of a key, if it is in force. */
  async findPending(app: AppRef, keyId: string): Promise<string | undefined> {
    const [row]: { challenge: string }[] = await this.dataSource.query(
      `SELECT challenge FROM auth_challenges WHERE app_id = $1 AND key_id = $2 AND ${CHALLENGE_IN_FORCE}`,
      [app.id, keyId],
    );
    return row?.challenge;
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
