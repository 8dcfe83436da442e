import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { startOfDay } from '../../platform/database/utc-sql.js';

/** Deleting from `audit_events`, `sessions` and `management_keys` what is over, of whichever accounts. */
@Injectable()
export class IdentityRetentionRepository {
  /** Deletes entries of before a UTC day, `YYYY-MM-DD`, oldest first. @returns how many, at most `limit`. */
  async deleteAuditEventsBefore(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM audit_events WHERE id = ANY (ARRAY(
         SELECT event.id FROM audit_events event WHERE event.created_at < ${startOfDay(1)}
         ORDER BY event.created_at LIMIT $2))`,
      [day, limit],
    );
    return count;
  }

  /** Deletes sessions that ended before `at`. One that is renewed meanwhile stays. @returns how many, at most `limit`. */
  async deleteEndedSessions(connection: EntityManager, at: Instant, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM sessions WHERE expires_at <= $1 AND id = ANY (ARRAY(
         SELECT ended.id FROM sessions ended WHERE ended.expires_at <= $1 ORDER BY ended.expires_at LIMIT $2))`,
      [at, limit],
    );
    return count;
  }

  /** Deletes keys that were revoked before a UTC day, `YYYY-MM-DD`; nothing refers to them. @returns how many, at most `limit`. */
  async deleteKeysRevokedBefore(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM management_keys WHERE id = ANY (ARRAY(
         SELECT revoked.id FROM management_keys revoked
          WHERE revoked.revoked_at < ${startOfDay(1)} LIMIT $2))`,
      [day, limit],
    );
    return count;
  }
}
