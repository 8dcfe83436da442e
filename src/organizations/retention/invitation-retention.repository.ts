import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../../platform/database/utc-sql.js';

/** Deleting from `invitations` what ended long ago, of whichever accounts. */
@Injectable()
export class InvitationRetentionRepository {
  /** Deletes invitations that ended before a UTC day, `YYYY-MM-DD`. @returns how many, at most `limit`. */
  async deleteEndedBefore(connection: EntityManager, day: string, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM invitations WHERE id = ANY (ARRAY(
         SELECT id FROM invitations
          WHERE coalesce(accepted_at, revoked_at, expires_at) < ${startOfDay(1)} LIMIT $2))`,
      [day, limit],
    );
    return count;
  }
}
