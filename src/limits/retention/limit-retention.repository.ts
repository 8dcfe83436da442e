import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { startOfDay } from '../../platform/database/utc-sql.js';

const DELETE_COUNTS = `
  DELETE FROM limit_counts WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM limit_counts old
    WHERE old.window_start_ms < extract(epoch FROM ${startOfDay(1)}) * 1000
    LIMIT $2 FOR UPDATE SKIP LOCKED))`;

const DELETE_UNSENT = `
  DELETE FROM limit_unsent WHERE ctid = ANY (ARRAY(
    SELECT old.ctid FROM limit_unsent old WHERE old.day < $1 LIMIT $2 FOR UPDATE SKIP LOCKED))`;

/** Deleting old rows of `limit_counts` and `limit_unsent`, which instances that count delete along the way. */
@Injectable()
export class LimitRetentionRepository {
  /** Deletes counts of windows that began before a UTC day, `YYYY-MM-DD`. @returns how many, at most `limit`. */
  deleteCounts(connection: EntityManager, day: string, limit: number): Promise<number> {
    return deleted(connection, DELETE_COUNTS, day, limit);
  }

  /** Deletes counts of requests that were never sent, of before a UTC day. @returns how many, at most `limit`. */
  deleteUnsent(connection: EntityManager, day: string, limit: number): Promise<number> {
    return deleted(connection, DELETE_UNSENT, day, limit);
  }
}

async function deleted(connection: EntityManager, statement: string, day: string, limit: number): Promise<number> {
  const [, count]: [unknown[], number] = await connection.query(statement, [day, limit]);
  return count;
}
