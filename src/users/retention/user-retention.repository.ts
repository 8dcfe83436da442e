import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../../platform/database/utc-sql.js';

/** Whoever is seen at the moment is left alone: rows others hold are passed over. */
const DELETE_UNSEEN = `
  DELETE FROM app_users WHERE ctid = ANY (ARRAY(
    SELECT unseen.ctid FROM app_users unseen
    WHERE unseen.status = 'active' AND unseen.recent_at < ${startOfDay(1)}
      AND coalesce(unseen.claim_pending_since, '-infinity') < ${startOfDay(1)}
      AND NOT EXISTS (SELECT FROM usage_user_months used
        WHERE used.app_id = unseen.app_id AND used.user_id = unseen.id)
      AND NOT EXISTS (SELECT FROM device_keys device
        WHERE device.app_id = unseen.app_id AND device.user_id = unseen.id)
    ORDER BY unseen.recent_at LIMIT $2 FOR UPDATE OF unseen SKIP LOCKED))`;

/** Deleting from `app_users`, of all applications; reads `usage_user_months` and `device_keys`, whose rows go first. */
@Injectable()
export class UserRetentionRepository {
  /** Deletes active users without a trace since a UTC day, `YYYY-MM-DD`. @returns how many, at most `limit`. */
  async deleteUnseenSince(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(DELETE_UNSEEN, [day, limit]);
    return count;
  }
}
