import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../../platform/database/utc-sql.js';

/** Keys that are used at the moment are left alone: rows others hold are passed over. */
const DELETE_UNUSED = `
  DELETE FROM device_keys WHERE ctid = ANY (ARRAY(
    SELECT unused.ctid FROM device_keys unused WHERE unused.last_used_at < ${startOfDay(1)}
    ORDER BY unused.last_used_at LIMIT $2 FOR UPDATE SKIP LOCKED))`;

/** Deleting old rows of `device_keys`, of all applications. */
@Injectable()
export class DeviceKeyRetentionRepository {
  /** Deletes keys last used before a UTC day, `YYYY-MM-DD`. @returns how many, at most `limit`. */
  async deleteUnusedSince(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(DELETE_UNUSED, [day, limit]);
    return count;
  }
}
