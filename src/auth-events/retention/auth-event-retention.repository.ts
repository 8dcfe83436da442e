import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../../platform/database/utc-sql.js';

/** Deleting from `auth_events` what is old, of whichever accounts. */
@Injectable()
export class AuthEventRetentionRepository {
  /** Deletes events of before a UTC day, `YYYY-MM-DD`, oldest first. @returns how many, at most `limit`. */
  async deleteBefore(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM auth_events WHERE id = ANY (ARRAY(
         SELECT event.id FROM auth_events event WHERE event.created_at < ${startOfDay(1)}
         ORDER BY event.created_at LIMIT $2))`,
      [day, limit],
    );
    return count;
  }
}
