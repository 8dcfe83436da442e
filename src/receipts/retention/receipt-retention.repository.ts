import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** Clearing and deleting in `creation_receipts` what is old, of whichever accounts. */
@Injectable()
export class ReceiptRetentionRepository {
  /** Forgets sealed answers that are given out no more; their receipts stay. @returns how many, at most `limit`. */
  async clearSealed(connection: EntityManager, now: Instant, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `UPDATE creation_receipts SET sealed_answer = NULL WHERE id = ANY (ARRAY(
         SELECT id FROM creation_receipts WHERE sealed_answer IS NOT NULL AND sealed_until <= $1
         ORDER BY sealed_until LIMIT $2))`,
      [now, limit],
    );
    return count;
  }

  /** Deletes receipts whose life is over, oldest first. @returns how many, at most `limit`. */
  async deleteExpired(connection: EntityManager, now: Instant, limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await connection.query(
      `DELETE FROM creation_receipts WHERE id = ANY (ARRAY(
         SELECT id FROM creation_receipts WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))`,
      [now, limit],
    );
    return count;
  }
}
